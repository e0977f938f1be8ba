// All keys on one sheet; a click on a key of one's own choice changes it.
import { element, keyCap } from "../dom.js";
import { capText, COMMANDS, printableKey } from "../input/keys.js";
import { openDialog, closeButton } from "./dialogs.js";

const MOVE = [
  [["←", "→"], "word cursor"],
  [["⇧←", "⇧→"], "stretch words, or the selected span"],
  [["Alt ⇧←", "Alt ⇧→"], "move the start of the span"],
  [["↑", "↓"], "what is on the word: arc, chip, relation"],
  [["Tab", "⇧Tab"], "next, previous task"],
  [["Esc"], "out of every mode"],
];
const SENTENCE = [
  [["↵", "Ctrl ↵"], "submit and next; ↵ first ends a mode"],
  [["Ctrl Z"], "undo, also after submit"],
  [["Ctrl ⇧Z"], "redo"],
  [["Ctrl Space"], "skip"],
  [["⌫"], "delete what is selected"],
  [["Space"], "type a label"],
];

/** Show the keys. settings: {custom, usesLetters, save(custom), useLetters(isOn)}. */
export function showKeys(project, keys, settings) {
  const custom = structuredClone(settings.custom);
  const grid = element("div", { class: "key-grid" });
  const status = element("p", { class: "small", role: "status" });
  const draw = (allocated) =>
    grid.replaceChildren(
      section("Move", MOVE.map(fixedRow)),
      section("Answer", COMMANDS.filter(isIn(allocated)).map(commandRow(allocated, change))),
      section("Sentence", SENTENCE.map(fixedRow)),
      ...project.tasks.filter(({ kind }) => kind !== "tree").map(taskSection(allocated, change)),
      ...(project.tasks.some(({ kind }) => kind === "tree") ? [treeNote()] : []),
    );

  async function change(button, assign) {
    status.textContent = "Press the new key, or Escape.";
    const key = await pressedKey(button);
    status.textContent = "";
    if (!key) return;
    assign(custom, key);
    draw(settings.save(custom));
    status.textContent = `${capText(key)} is set. A key that was taken has moved.`;
  }

  const letters = element("input", { type: "checkbox" });
  letters.checked = settings.usesLetters;
  letters.addEventListener("change", () => settings.useLetters(letters.checked));
  const reset = element(
    "button",
    { type: "button", class: "button slim" },
    "Back to the project's keys",
  );
  reset.addEventListener("click", () => {
    for (const part of Object.keys(custom)) delete custom[part];
    draw(settings.save(custom));
  });
  const head = element(
    "header",
    { class: "key-head" },
    element("h2", {}, "Keys"),
    element(
      "span",
      { class: "small muted" },
      "A key means one thing on this page. Click a key to change it.",
    ),
    closeButton("Close"),
  );
  const foot = element(
    "footer",
    { class: "row small" },
    element("label", { class: "check" }, letters, "Letters and digits are keys"),
    reset,
    status,
  );
  draw(keys);
  openDialog(element("div", { class: "keys" }, head, grid, foot), null, { isWide: true });
}

function section(title, rows) {
  return element("section", {}, element("h3", {}, title), element("dl", {}, ...rows.flat()));
}

function fixedRow([caps, words]) {
  return [element("dt", {}, ...caps.map(keyCap)), element("dd", {}, words)];
}

function isIn({ commands }) {
  return ({ id }) => [...commands.values()].includes(id);
}

function commandRow({ commands }, change) {
  return ({ id, words }) => {
    const key = [...commands].find(([, command]) => command === id)[0];
    return keyRow(key, words, "", change, (custom, chosen) => {
      custom.commands = { ...custom.commands, [id]: chosen };
    });
  };
}

function taskSection(allocated, change) {
  return (task) =>
    section(
      task.name,
      task.labels.map(({ name }) =>
        keyRow(
          allocated.keyOf(task.name, name),
          name,
          pairText(task, name),
          change,
          (custom, chosen) => {
            const mine = { ...custom.labels?.[task.name], [name]: chosen };
            custom.labels = { ...custom.labels, [task.name]: mine };
          },
        ),
      ),
    );
}

function keyRow(key, words, note, change, assign) {
  const cap = element("button", {
    type: "button",
    class: "key-button",
    "aria-label": `Key for ${words}`,
  });
  cap.append(keyCap(key ? capText(key) : "–"));
  cap.addEventListener("click", () => change(cap, assign));
  const text = element("dd", {}, words);
  if (note) text.append(" ", element("span", { class: "faint" }, note));
  return [element("dt", {}, cap), text];
}

function pairText(task, name) {
  const pairs = task.pairs?.[name] ?? [];
  return pairs.map(([from, to]) => `${from} → ${to}`).join(", ");
}

function treeNote() {
  const words = "Labels of a tree have no keys: type their first letters after the arc.";
  return element("section", {}, element("p", { class: "small muted" }, words));
}

/** The next printable key that is pressed on a button, or "" for Escape. */
function pressedKey(button) {
  button.dataset.waiting = "";
  button.focus();
  return new Promise((resolve) => {
    const end = (key) => {
      delete button.dataset.waiting;
      button.removeEventListener("keydown", hear);
      button.removeEventListener("blur", leave);
      resolve(key);
    };
    const leave = () => end("");
    const hear = (event) => {
      if (["Shift", "Control", "Alt", "Meta", "Tab"].includes(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      end(printableKey(event).trim());
    };
    button.addEventListener("keydown", hear);
    button.addEventListener("blur", leave);
  });
}
