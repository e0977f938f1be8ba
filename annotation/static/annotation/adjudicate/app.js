// Adjudication: differences are chosen one by one, or an answer is edited; all of it becomes gold.
import "../annotate/sentence/element.js";
import { kindOf } from "../annotate/kinds/index.js";
import { sameWords } from "../annotate/model/answers.js";
import { CaseCard } from "./case_card.js";
import { editingPage, GoldEditor } from "./gold_editor.js";
import { t } from "../annotate/words.js";

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const { sentence, tasks } = read("shown");
const { cases, gold, posted, owner } = read("decisions");
const form = document.querySelector("[data-adjudicate]");
const count = form.querySelector("[data-count]");
const page = editingPage({ tasks, owner, submit: () => form.requestSubmit(), change: followEdited });
const cards = new Map(); // task -> its card
const editors = new Map(); // task -> the editor that has it, of its own card or of its relations'

for (const task of cases) {
  const root = form.querySelector(`[data-case="${CSS.escape(task.task)}"]`);
  const on = { edit: (card) => edit(card), back, change: follow };
  cards.set(task.task, new CaseCard(root, task, sentence.tokens, on));
}
restore();
showCards();
if (!editors.size) focusFirst();

function focusFirst() {
  const field = form.querySelector(".decision");
  (field?.querySelector("input:checked") ?? field?.querySelector("input"))?.focus();
}

/** Edit a task's answer; relations are edited together with their spans while those are open. */
function edit(card, values = {}) {
  const parents = parentsOf(card.name);
  const names = [...parents.filter((parent) => cards.has(parent)), card.name];
  const start = Object.fromEntries(names.map((name) => [name, values[name] ?? valueToEdit(name)]));
  for (const name of names) editors.get(name)?.close();
  card.editor ??= new GoldEditor(card.room, tasksWith(card.name, parents), page);
  for (const name of names) editors.set(name, card.editor);
  const given = parents.filter((parent) => gold[parent]).map((parent) => [parent, gold[parent]]);
  card.editor.open(sentence, start, Object.fromEntries(given));
  showCards();
  card.editor.activate(card.name);
}

/** Put an edited answer away and choose again. */
function back(card) {
  const editor = editors.get(card.name);
  editor.close();
  for (const name of editor.wanted) editors.delete(name);
  showCards();
  card.focus();
}

function valueToEdit(name) {
  return editors.get(name)?.values[name] ?? cards.get(name).answerToEdit;
}

function tasksWith(name, parents) {
  return tasks.filter((task) => task.name === name || parents.includes(task.name));
}

/** The tasks whose spans a task stands on. */
function parentsOf(name) {
  const task = tasks.find((each) => each.name === name);
  return [task.parent, task.second_parent].filter(Boolean);
}

/** Show what was decided, or sent and refused; nobody has to do it again. */
function restore() {
  for (const card of cards.values()) card.takeDecided();
  for (const [name, value] of Object.entries(posted).reverse()) {
    const card = cards.get(name);
    if (card && !editors.has(name) && !card.take(value)) edit(card, posted);
  }
}

function showCards() {
  for (const card of cards.values()) {
    const editor = editors.get(card.name);
    card.showEdited(editor ? whereEdited(card, editor) : null);
  }
  showCount();
}

/** What hangs on spans that were decided not to be there is not there either. */
function follow(card) {
  const spans = editors.get(card.name)?.values[card.name] ?? card.answer;
  for (const other of spans === null ? [] : cards.values()) {
    const isHanging = parentsOf(other.name).includes(card.name) && !editors.has(other.name);
    if (isHanging) other.leaveOut((item) => isTied(other.name, item, card.name, spans));
  }
  showCount();
}

function followEdited() {
  for (const name of editors.keys()) follow(cards.get(name));
  showCount();
}

function isTied(name, item, parent, spans) {
  const task = tasks.find((each) => each.name === name);
  const stands = (end) => spans.some((span) => sameWords(span, end));
  return kindOf(task).keepEnds([item], stands, task, parent).length > 0;
}

function whereEdited(card, editor) {
  if (editor === card.editor) return t("Edited here; saved as gold with the rest.");
  return t("Edited with {task}, below.", { task: editor.wanted.at(-1) });
}

function showCount() {
  const open = [...cards.values()].filter(({ name }) => !editors.has(name));
  const choices = open.flatMap(({ chosen }) => [...chosen.values()]);
  const decided = choices.filter((choice) => choice !== undefined).length;
  const parts = choices.length ? [t("{n} of {all} decided", { n: decided, all: choices.length })] : [];
  if (editors.size) parts.push(t("{tasks} edited", { tasks: [...editors.keys()].join(", ") }));
  count.textContent = parts.join(" · ");
}

function collect() {
  const answers = {};
  for (const card of cards.values()) {
    const { name } = card;
    if (!editors.has(name) && !card.task.differences.length) continue; // nothing was decided
    const value = editors.has(name) ? editors.get(name).values[name] : card.answer;
    if (value !== null) answers[name] = value;
  }
  return answers;
}

form.addEventListener("submit", (event) => {
  const isFaulty = [...new Set(editors.values())].some((editor) => editor.showProblem());
  if (isFaulty) event.preventDefault();
  form.elements.answers.value = JSON.stringify(collect());
});

// Up and down go from difference to difference; left and right choose, as radio buttons do.
form.addEventListener("keydown", (event) => {
  const field = event.target.closest(".decision");
  if (!field || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = {
    Enter: () => form.requestSubmit(),
    e: () => edit(cardOf(field)),
    m: () => cardOf(field).takeMajority(),
    ArrowDown: () => go(field, 1),
    ArrowUp: () => go(field, -1),
  }[event.key];
  const person = /^[1-9]$/.test(event.key) && Object.keys(cardOf(field).task.answers)[event.key - 1];
  if (person) cardOf(field).takeAll(person);
  if (person || (act && act() !== false)) event.preventDefault();
});

function cardOf(field) {
  return cards.get(field.closest("[data-case]").dataset.case);
}

// Skip and back work wherever nobody types.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest("textarea, select, [data-editor], input:not([type=radio])")) return;
  const link = { s: "[data-skip]", b: "[data-last]" }[event.key];
  if (link) document.querySelector(link)?.click();
});

/** Focus the next or previous difference that is shown; false if there is none. */
function go(field, by) {
  const fields = [...form.querySelectorAll(".decision")].filter((other) => other.offsetParent);
  const next = fields[fields.indexOf(field) + by];
  if (!next) return false;
  (next.querySelector("input:checked") ?? next.querySelector("input")).focus();
  return true;
}
