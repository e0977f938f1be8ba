// Gold from choices: what all agree on stays, each difference is chosen or left out.

const PER_TOKEN = new Set(["tree", "tags"]);

/** Differences that exclude each other stand in one group: the arcs of a word, the classes.
 *  [{key, differences}]; a choice for a group is the number of a difference, or "none". */
export function groupsOf(task) {
  const groups = new Map();
  task.differences.forEach((difference, i) => {
    let key = `item-${i}`;
    if (task.kind === "classes") key = "class";
    else if (PER_TOKEN.has(task.kind)) key = `token-${difference.item[0]}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(difference);
  });
  return [...groups].map(([key, differences]) => ({ key, differences }));
}

/** Whether one of a group's differences must be chosen, since a word or a sentence has one. */
export function isOneOf(task) {
  return task.kind === "classes" || PER_TOKEN.has(task.kind);
}

/** The choice for a group that says what a person says. */
export function choiceOf(task, { differences }, person) {
  const own = differences.find(({ people }) => people.includes(person));
  return own ? task.differences.indexOf(own) : "none";
}

/** The choices that make an answer: a map from group to choice, as far as there are such. */
export function choicesFor(task, value) {
  const items = new Set(itemsOf(task.kind, value).map((item) => JSON.stringify(item)));
  return new Map(
    groupsOf(task).map(({ key, differences }) => {
      const found = differences.find(({ item }) => items.has(JSON.stringify(item)));
      const otherwise = isOneOf(task) ? undefined : "none";
      return [key, found ? task.differences.indexOf(found) : otherwise];
    }),
  );
}

/** The answer that choices make, or null while one is missing. */
export function answerOf(task, chosen) {
  const items = [];
  for (const { key } of groupsOf(task)) {
    const choice = chosen.get(key);
    if (choice === undefined) return null;
    if (choice !== "none") items.push(task.differences[choice].item);
  }
  if (task.kind === "classes") return items[0][0];
  const apart = new Set(task.differences.map(({ item }) => JSON.stringify(item)));
  const common = itemsOf(task.kind, Object.values(task.answers)[0]).filter(
    (item) => !apart.has(JSON.stringify(item)),
  );
  const all = [...common, ...items];
  if (!PER_TOKEN.has(task.kind)) return all;
  all.sort((a, b) => a[0] - b[0]);
  return all.map((item) => (task.kind === "tags" ? item[1] : item.slice(1)));
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
  if (task.kind === "classes") return "whole sentence";
  if (PER_TOKEN.has(task.kind)) return tokens[first.item[0]];
  return itemWords(task.kind, first.item, tokens);
}

/** One item of an answer in words. */
export function itemWords(kind, item, tokens) {
  const text = (start, end) => tokens.slice(start, end).join(" ");
  if (kind === "classes") return item[0];
  if (kind === "tags") return item[1];
  if (kind === "tree") {
    const [dep, head, label] = item;
    return head === 0 ? `root, ${label}` : `${tokens[head - 1]} → ${tokens[dep]}, ${label}`;
  }
  if (kind === "spans") return `${item[2]}: ${text(item[0], item[1])}`;
  return `${text(item[0], item[1])} → ${text(item[2], item[3])}, ${item[4]}`;
}

function itemsOf(kind, value) {
  if (kind === "classes") return [[value]];
  if (kind === "tags") return value.map((label, i) => [i, label]);
  if (kind === "tree") return value.map((arc, i) => [i, ...arc]);
  return value;
}
