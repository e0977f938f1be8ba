// Gold from choices: what all agree on stays, each difference is chosen or left out.
import { kindOf } from "../annotate/kinds/index.js";

/** Differences that exclude each other stand in one group: the arcs of a word, the classes.
 *  [{key, differences}]; a choice for a group is the number of a difference, or "none". */
export function groupsOf(task) {
  const groups = new Map();
  task.differences.forEach((difference, i) => {
    const key = kindOf(task).group(difference.item, i);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(difference);
  });
  return [...groups].map(([key, differences]) => ({ key, differences }));
}

/** Whether one of a group's differences must be chosen, since a word or a sentence has one. */
export function isOneOf(task) {
  return kindOf(task).isOneOf;
}

/** The choice for a group that says what a person says. */
export function choiceOf(task, { differences }, person) {
  const own = differences.find(({ people }) => people.includes(person));
  return own ? task.differences.indexOf(own) : "none";
}

/** The choice for a group that more than half of the people make; undefined where none has. */
export function majorityOf(task, group) {
  const people = Object.keys(task.answers);
  const votes = new Map();
  for (const person of people) {
    const choice = choiceOf(task, group, person);
    votes.set(choice, (votes.get(choice) ?? 0) + 1);
  }
  return [...votes].find(([, n]) => n > people.length / 2)?.[0];
}

/** The choices that make an answer: a map from group to choice, as far as there are such. */
export function choicesFor(task, value) {
  const units = new Set(unitsOf(task, value).map((unit) => JSON.stringify(unit)));
  return new Map(
    groupsOf(task).map(({ key, differences }) => {
      const found = differences.find(({ item }) => units.has(JSON.stringify(item)));
      const otherwise = isOneOf(task) ? undefined : "none";
      return [key, found ? task.differences.indexOf(found) : otherwise];
    }),
  );
}

/** The answer that choices make, or null while one is missing. */
export function answerOf(task, chosen) {
  const units = [];
  for (const { key } of groupsOf(task)) {
    const choice = chosen.get(key);
    if (choice === undefined) return null;
    if (choice !== "none") units.push(task.differences[choice].item);
  }
  const apart = new Set(task.differences.map(({ item }) => JSON.stringify(item)));
  const common = unitsOf(task, Object.values(task.answers)[0]).filter(
    (unit) => !apart.has(JSON.stringify(unit)),
  );
  return kindOf(task).compose([...common, ...units]);
}

/** An answer to edit: the gold there is, or the choices made and the first person's for the rest. */
export function answerToEdit(task, chosen) {
  const isUntouched = [...chosen.values()].every((choice) => choice === undefined);
  if (task.gold !== null && isUntouched) return task.gold;
  const [first] = Object.keys(task.answers);
  const filled = new Map(
    groupsOf(task).map((group) => [
      group.key,
      chosen.get(group.key) ?? choiceOf(task, group, first),
    ]),
  );
  return answerOf(task, filled);
}

/** A group in words: the word or thing that it is about. */
export function groupTitle(task, { differences: [first] }, tokens) {
  return kindOf(task).title(first.item, tokens);
}

/** One item of an answer in words. */
export function itemWords(task, item, tokens) {
  return kindOf(task).unitText(item, tokens);
}

function unitsOf(task, value) {
  const { items, unit } = kindOf(task);
  return items(value).map(unit);
}
