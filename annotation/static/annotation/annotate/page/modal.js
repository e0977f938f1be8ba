// Dialogs: a remark to write, two versions to choose from, and another tab at work.
import { element, keyCap } from "../dom.js";
import { differingWords, drawAgainst, tieItems } from "../model/items.js";
import { t } from "../words.js";

/** Ask for a remark; resolves to the text, or to null. ready: texts to take with one click, or with a
 *  digit as long as nothing is written. */
export function askRemark({ title, words, ready = [], action, value = "", isOptional = false }) {
  return new Promise((resolve) => {
    const input = element("textarea", {
      rows: 3,
      maxlength: 2000,
      required: !isOptional,
      "aria-label": words,
    });
    const take = (text) => {
      input.value = text;
      input.focus();
    };
    const chips = ready.map((text, i) => {
      const cap = keyCap(String(i + 1));
      const chip = element("button", { type: "button", class: "button slim" }, text, " ", cap);
      chip.addEventListener("click", () => take(text));
      return chip;
    });
    const form = element(
      "form",
      { method: "dialog", class: "stack" },
      element("h2", {}, title),
      element("p", { class: "small muted" }, words),
      ...(chips.length ? [element("div", { class: "row" }, ...chips)] : []),
      input,
      element(
        "div",
        { class: "row dialog-buttons" },
        closeButton(t("Cancel")),
        element("button", { class: "button primary" }, action),
      ),
    );
    input.value = value;
    const dialog = openDialog(form, (value) => resolve(value === "ok" ? input.value.trim() : null));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      closeDialog(dialog, "ok");
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        form.requestSubmit();
      } else if (!input.value && ready[event.key - 1]) {
        event.preventDefault();
        take(ready[event.key - 1]);
      }
    });
    input.focus();
    input.select();
  });
}

/** Ask which tasks are done; resolves to their names, or to null. tasks: [{name, isReady, isDone}]. */
export function askDone(tasks) {
  return new Promise((resolve) => {
    const boxes = tasks.map(({ name, isReady, isDone }) => {
      const box = element("input", { type: "checkbox", value: name, disabled: !isReady });
      box.checked = isDone;
      return element("label", { class: "check" }, box, name);
    });
    const form = element(
      "form",
      { method: "dialog", class: "stack" },
      element("h2", {}, t("Leave this sentence for later")),
      element(
        "p",
        { class: "small muted" },
        t("What is ticked is saved now. The rest comes back when everything else is done."),
      ),
      ...boxes,
      element(
        "div",
        { class: "row dialog-buttons" },
        closeButton(t("Cancel")),
        element("button", { class: "button primary" }, t("Leave for later")),
      ),
    );
    const chosen = () => [...form.querySelectorAll("input:checked")].map((box) => box.value);
    const dialog = openDialog(form, (value) => resolve(value === "ok" ? chosen() : null));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      closeDialog(dialog, "ok");
    });
    form.querySelector(".primary").focus();
  });
}

const MOST_NAMED = 8;

/** Ask whether to submit although suggestions were not checked; resolves to true or false.
 *  labels: of those suggestions; countsAsOwn: what the project makes of them. */
export function confirmUnchecked(labels, countsAsOwn) {
  return new Promise((resolve) => {
    const n = labels.length;
    const named = labels.slice(0, MOST_NAMED).join(", ") + (n > MOST_NAMED ? ", …" : "");
    const meaning = countsAsOwn ? t("as yours") : t("as “not there”");
    const choice = (text, cap, value, look) => {
      const button = element("button", { type: "button", class: look }, text, " ", keyCap(cap));
      button.addEventListener("click", () => closeDialog(dialog, value));
      return button;
    };
    const check = choice(t("Check them"), "↵", "", "button primary");
    const content = element(
      "div",
      { class: "stack" },
      element("h2", {}, n === 1 ? t("1 suggestion was not checked") : t("{n} suggestions were not checked", { n })),
      element(
        "p",
        { class: "breaks" },
        n === 1
          ? t("It counts {meaning}: {labels}.", { meaning, labels: named })
          : t("They count {meaning}: {labels}.", { meaning, labels: named }),
      ),
      element(
        "div",
        { class: "row dialog-buttons" },
        choice(t("Submit as it is"), "Ctrl ↵", "submit", "button"),
        check,
      ),
    );
    const dialog = openDialog(content, (value) => resolve(value === "submit"));
    dialog.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
      event.preventDefault();
      closeDialog(dialog, "submit");
    });
    check.focus();
  });
}

/** Show two versions of the answers; resolves to the value of the chosen button.
 *  sides: [{title, values}], buttons: [{text, value, isMain}]. */
export function showVersions({ title, words, state, sides, buttons }) {
  return new Promise((resolve) => {
    const panels = sides.map((side, i) => versionPanel(state, side, sides[1 - i]));
    const choices = buttons.map(({ text, value, isMain }) => {
      const look = isMain ? "button primary" : "button";
      const button = element("button", { type: "button", class: look }, text);
      button.addEventListener("click", () => closeDialog(dialog, value));
      return button;
    });
    const content = element(
      "div",
      { class: "stack" },
      element("h2", {}, title),
      element("p", { class: "small muted" }, words),
      element("div", { class: "versions" }, ...panels.map(({ node }) => node)),
      element("div", { class: "row dialog-buttons sticky" }, ...choices),
    );
    const dialog = openDialog(content, resolve, { isWide: true, canEscape: false });
    for (const { show } of panels) show();
    choices.at(-1).focus({ preventScroll: true });
  });
}

function versionPanel(state, { title, values }, other) {
  const sentence = element("tandem-sentence", { readonly: true, gap: 3 });
  const drawn = drawAgainst(state.tasks, values, other?.values ?? values);
  const opposite = drawAgainst(state.tasks, other?.values ?? values, values);
  const items = tieItems(state.tasks, drawn);
  const show = () =>
    sentence.show({
      sentence: state.sentence,
      items,
      differing: differingWords(drawn, opposite),
    });
  return { node: element("section", {}, element("h3", {}, title), sentence), show };
}

/** A modal dialog with some content; calls back with its value when it closes, then goes away. */
export function openDialog(content, onClose, { isWide = false, canEscape = true } = {}) {
  const heading = content.querySelector("h2");
  heading.id = "dialog-title";
  const dialog = element("dialog", {
    "aria-labelledby": "dialog-title",
    class: isWide ? "wide" : "",
  });
  dialog.append(content);
  document.body.append(dialog);
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    if (canEscape) closeDialog(dialog, "");
  });
  const end = () => {
    dialog.remove();
    onClose?.(dialog.returnValue);
  };
  dialog.addEventListener("close", end, { once: true });
  dialog.showModal();
  return dialog;
}

/** Close a dialog and carry out its answer before the next key: the browser's own event comes some
 *  time later, and what is typed until then would go to a field that nobody sees. */
export function closeDialog(dialog, value) {
  dialog.close(value);
  dialog.dispatchEvent(new Event("close"));
}

export function closeButton(text) {
  const button = element("button", { type: "button", class: "button" }, text);
  button.addEventListener("click", () => closeDialog(button.closest("dialog"), ""));
  return button;
}
