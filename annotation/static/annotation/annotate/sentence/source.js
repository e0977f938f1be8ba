// Answers for <tandem-sentence from="id">: a JSON script with tokens, tasks and answers.
import { differingWords, drawAgainst } from "../model/differences.js";
import { connectRelations, drawAnswers, drawItems } from "../model/items.js";
import { suggestedItems } from "../model/suggestions.js";

/** What to show, from {"sentence": {tokens, offsets, language}, "tasks": [...],
 *  "answers": {name: {task: value}}, "suggestions": {task: {value, confidence, details}}}.
 *  answer: whose answers (the only ones if there is one author); against: whose to compare with;
 *  below: whose trees to draw under the words; tasks: a JSON list of the names to show;
 *  suggested: given where the suggestions are to be drawn, and no answers. */
export function readSource(script, { answer, against, below, tasks: names, suggested }) {
  const { sentence, tasks: all, answers, suggestions } = JSON.parse(script.textContent);
  const shown = names ? JSON.parse(names) : null;
  const tasks = shown ? all.filter((task) => shown.includes(task.name)) : all;
  if (suggested !== undefined) {
    const items = drawItems(
      tasks,
      ({ name, kind }) => suggestedItems(kind, suggestions[name]),
      "suggested",
    );
    return { sentence, items: connectRelations(tasks, items) };
  }
  const values = answers[answer ?? Object.keys(answers)[0]] ?? {};
  const others = answers[against ?? below];
  if (!others) {
    return { sentence, items: connectRelations(tasks, drawAnswers(tasks, values, "own")) };
  }
  const drawn = drawAgainst(tasks, values, others);
  const opposite = drawAgainst(tasks, others, values);
  const items = connectRelations(tasks, drawn);
  return {
    sentence,
    items: { ...items, treeBelow: below ? renamed(opposite.tree) : [] },
    differing: differingWords(drawn, opposite),
  };
}

/** Arcs under the words need ids of their own. */
function renamed(arcs) {
  return arcs.map((arc) => ({ ...arc, id: `${arc.id}/below` }));
}
