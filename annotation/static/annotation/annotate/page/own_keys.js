// Keys of one's own, kept in this browser, and the sheet that shows all keys and changes them.
import { element, keyCap } from "../dom.js";
import { capText, commandsFor, printableKey } from "../input/keys.js";
import { closeButton, openDialog } from "./modal.js";
import { t } from "../words.js";

export class OwnKeys {
  constructor(storage, owner) {
    this.storage = storage;
    this.key = `tandem/keys/${owner}`;
  }

  /** {commands: {id: key}, labels: {task: {label: key}}, usesLetters}. */
  get choice() {
    const text = this.storage.getItem(this.key);
    return text === null ? {} : JSON.parse(text);
  }

  set choice(value) {
    this.storage.setItem(this.key, JSON.stringify(value));
  }

  get usesLetters() {
    return this.choice.usesLetters !== false;
  }

  /** What the sheet of keys shows and changes; useKeys() allocates the keys anew. */
  settings(useKeys) {
    return {
      custom: this.choice,
      usesLetters: this.usesLetters,
      save: (custom) => {
        this.choice = custom;
        return useKeys();
      },
      useLetters: (isOn) => (this.choice = { ...this.choice, usesLetters: isOn }),
    };
  }
}

const MOVE = [
  [["←", "→"], t("word cursor")],
  [["Home", "End"], t("first, last word")],
  [["⇧←", "⇧→"], t("stretch words, or the selected span")],
  [["Alt ⇧←", "Alt ⇧→"], t("move the start of the span")],
  [["↑", "↓"], t("what is on the word: arc, chip, relation")],
  [["Tab", "⇧Tab"], t("next, previous task")],
  [["Esc"], t("out of every mode")],
];
const SENTENCE = [
  [["↵"], t("next thing to check; submit when none is left")],
  [["⇧↵"], t("accept every suggestion of every task")],
  [["Ctrl ↵"], t("submit at once; asks first")],
  [["Ctrl Z"], t("undo, also after submit")],
  [["Ctrl ⇧Z"], t("redo")],
  [["Ctrl ↑", "Ctrl ↓"], t("one answer back, forth")],
  [["F8", "F9"], t("your answers, the document")],
  [["F2", "F4"], t("note, leave for later")],
  [["Ctrl Space"], t("skip")],
  [["⌫"], t("delete what is selected")],
  [["Space"], t("find a label, as /")],
  [["0"], t("all classes")],
];

/** Show the keys. settings: {custom, usesLetters, save(custom), useLetters(isOn)}. */
export function showKeys(project, keys, settings) {
  const custom = structuredClone(settings.custom);
  const grid = element("div", { class: "key-grid" });
  const commands = commandsFor(project.tasks);
  const status = element("p", { class: "small", role: "status" });
  const draw = (allocated) =>
    grid.replaceChildren(
      section(t("Move"), MOVE.map(fixedRow)),
      section(t("Answer"), commands.map(commandRow(allocated, change))),
      section(t("Sentence"), SENTENCE.map(fixedRow)),
      ...project.tasks.map(taskSection(allocated, change)),
    );

  async function change(button, assign) {
    status.textContent = t("Press the new key, or Escape.");
    const key = await pressedKey(button);
    status.textContent = "";
    if (!key) return;
    assign(custom, key);
    draw(settings.save(custom));
    status.textContent = t("{key} is set. A key that was taken has moved.", { key: capText(key) });
  }

  const letters = element("input", { type: "checkbox" });
  letters.checked = settings.usesLetters;
  letters.addEventListener("change", () => settings.useLetters(letters.checked));
  const reset = element(
    "button",
    { type: "button", class: "button slim" },
    t("Back to the project's keys"),
  );
  reset.addEventListener("click", () => {
    for (const part of Object.keys(custom)) delete custom[part];
    draw(settings.save(custom));
  });
  const head = element(
    "header",
    { class: "key-head" },
    element("h2", {}, t("Keys")),
    element(
      "span",
      { class: "small muted" },
      t("Letters belong to the labels of the open task. Click a key to change it."),
    ),
    closeButton(t("Close")),
  );
  const foot = element(
    "footer",
    { class: "row small" },
    element("label", { class: "check" }, letters, t("Letters and digits are keys")),
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

function commandRow(allocated, change) {
  return ({ id, words }) => {
    return keyRow(allocated.commandKey(id), words, "", change, (custom, chosen) => {
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
    "aria-label": t("Key for {words}", { words }),
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
