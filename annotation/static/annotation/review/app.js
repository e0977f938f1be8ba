// Review: one answer beside the model's; corrected in place with the annotate page's own means.
import { kindOf } from "../annotate/kinds/index.js";
import { drawAgainst, drawItems, joinItems, tieItems } from "../annotate/model/items.js";
import { suggestedItems } from "../annotate/model/suggestions.js";
import "../annotate/sentence/element.js";
import { editingPage, GoldEditor } from "../adjudicate/gold_editor.js";
import { inWords, unitsOf } from "./words.js";
import { t } from "../annotate/words.js";

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const { sentence, tasks, answers, suggestions } = read("shown");
const { task: name, value, given, owner, versions, rows } = read("review-data");
const task = tasks.find((one) => one.name === name);
const card = document.querySelector("[data-review]");
const form = card.querySelector("[data-decide]");
const page = editingPage({ tasks, owner, submit: save, change: showChanges });
let editor = null;

showBoth();
const here = apart(value, suggestions[name]?.value ?? null);
say("answer", here.own, suggestions[name] ? t("nothing that the model does not say") : t("nothing there"));
say("model", here.other, t("nothing else"));
for (const [i, place] of document.querySelectorAll("[data-apart]").entries()) {
  place.textContent = rowWords(rows[i]);
}
for (const [i, place] of document.querySelectorAll("[data-change]").entries()) {
  place.textContent = changeWords(versions[i], versions[i + 1]);
}

/** The answer solid, what only the model says dashed, on one line of words. */
function showBoth() {
  const drawn = card.querySelector("[data-overlaid]");
  if (!drawn) return;
  const own = drawAgainst(tasks, answers.answer, answers.model ?? answers.answer);
  const others = new Set(unitsOf(task, value).map((unit) => JSON.stringify(unit)));
  const kind = kindOf(task);
  const model = drawItems(
    tasks.filter((one) => one === task),
    (one) =>
      suggestedItems(one, suggestions[one.name]).filter(
        (item) => !others.has(JSON.stringify(kind.unit(item))),
      ),
    "suggested",
  );
  for (const layer of Object.values(model)) for (const item of layer) item.id += "/model";
  drawn.show({ sentence, items: tieItems(tasks, joinItems(own, model)) });
}

/** What each of two answers has that the other has not. */
function apart(first, second) {
  const key = (unit) => JSON.stringify(unit);
  const [own, other] = [unitsOf(task, first), unitsOf(task, second)];
  const [known, theirs] = [new Set(own.map(key)), new Set(other.map(key))];
  return {
    own: own.filter((unit) => !theirs.has(key(unit))),
    other: other.filter((unit) => !known.has(key(unit))),
  };
}

function words(units, one = task, tokens = sentence.tokens) {
  return inWords(units, one, tokens);
}

function say(who, units, otherwise) {
  const place = card.querySelector(`[data-only="${who}"]`);
  if (place) place.textContent = words(units) || otherwise;
}

function rowWords(row) {
  const one = { name: row.task, kind: row.kind };
  const own = row.answer.length ? row.answer : row.model.length ? [] : unitsOf(one, row.value);
  const first = words(own, one, row.tokens) || t("nothing");
  return `: ${first}${row.model.length ? `; ${t("model")}: ${words(row.model, one, row.tokens)}` : ""}`;
}

function changeWords(now, before) {
  if (before === undefined) return words(unitsOf(task, now)) || t("nothing there");
  const { own: added, other: gone } = apart(now, before);
  const parts = [added.length && `+ ${words(added)}`, gone.length && `− ${words(gone)}`];
  return parts.filter(Boolean).join(", ") || t("the same as the one before it");
}

function edit() {
  editor ??= new GoldEditor(card.querySelector("[data-editor]"), tasks, page);
  editor.open(sentence, { [name]: value }, given);
  showEditing(true);
  editor.activate(name);
  showChanges();
}

function leave() {
  editor.close();
  showEditing(false);
  card.querySelector("[data-edit]").focus();
}

function showEditing(is) {
  card.toggleAttribute("data-edited", is);
  for (const part of card.querySelectorAll("[data-looking]")) part.hidden = is;
  card.querySelector("[data-editing]").hidden = !is;
}

function showChanges() {
  if (!editor?.editor.state) return;
  const { own: added, other: gone } = apart(editor.values[name], value);
  const parts = [...(gone.length ? [`− ${words(gone)}`] : []), ...(added.length ? [`+ ${words(added)}`] : [])];
  card.querySelector("[data-changes]").textContent = parts.join(", ") || t("Nothing is changed yet.");
}

function save() {
  form.requestSubmit(card.querySelector("[data-save]"));
}

card.querySelector("[data-edit]").addEventListener("click", edit);
card.querySelector("[data-leave]").addEventListener("click", leave);
card.addEventListener("keydown", (event) => {
  const isFree = editor?.editor.state && !editor.editor.state.ui.mode && !page.chooser.isAsking;
  if (event.key === "Escape" && isFree) leave();
});
form.addEventListener("submit", (event) => {
  if (event.submitter?.value !== "correct") return;
  if (editor.showProblem()) event.preventDefault();
  else form.elements.gold.value = JSON.stringify(editor.values[name]);
});
