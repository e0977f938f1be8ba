// Dialogs: a remark to write, two versions to choose from, and another tab at work.
import { element } from "../dom.js";
import { differingWords, drawAgainst } from "../model/differences.js";
import { connectRelations } from "../model/items.js";

/** Ask for a remark; resolves to the text, or to null. ready: texts to take with one click. */
export function askRemark({ title, words, ready = [], action }) {
  return new Promise((resolve) => {
    const input = element("textarea", {
      rows: 3,
      maxlength: 2000,
      required: true,
      "aria-label": words,
    });
    const chips = ready.map((text) => {
      const chip = element("button", { type: "button", class: "button slim" }, text);
      chip.addEventListener("click", () => (input.value = text));
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
        closeButton("Cancel"),
        element("button", { class: "button primary" }, action),
      ),
    );
    input.value = ready[0] ?? "";
    const dialog = openDialog(form, (value) => resolve(value === "ok" ? input.value.trim() : null));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      dialog.close("ok");
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
    input.focus();
    input.select();
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
      button.addEventListener("click", () => dialog.close(value));
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
  const items = connectRelations(state.tasks, drawn);
  const show = () =>
    sentence.show({
      sentence: state.sentence,
      items: { ...items, treeBelow: [] },
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
  dialog.addEventListener("cancel", (event) => !canEscape && event.preventDefault());
  dialog.addEventListener("close", () => {
    dialog.remove();
    onClose?.(dialog.returnValue);
  });
  dialog.showModal();
  return dialog;
}

export function closeButton(text) {
  const button = element("button", { type: "button", class: "button" }, text);
  button.addEventListener("click", () => button.closest("dialog").close(""));
  return button;
}
