// Forms with data-confirm ask once more before they are sent.
import { t } from "./annotate/words.js";
function dialogFor(form, submitter) {
  const dialog = document.createElement("dialog");
  const question = document.createElement("p");
  question.id = "confirm-question";
  question.textContent = form.dataset.confirm;
  const actions = document.createElement("div");
  actions.className = "row dialog-actions";
  const yes = button(submitter?.textContent.trim() || t("Yes"), "button danger");
  const no = button(t("Cancel"), "button");
  actions.append(no, yes);
  dialog.setAttribute("aria-labelledby", question.id);
  dialog.append(question, actions);
  no.addEventListener("click", () => dialog.close());
  yes.addEventListener("click", () => {
    form.dataset.confirmed = "";
    form.requestSubmit(submitter);
  });
  dialog.addEventListener("close", () => dialog.remove());
  return dialog;
}

function button(words, className) {
  const element = document.createElement("button");
  element.type = "button";
  element.className = className;
  element.textContent = words;
  return element;
}

for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if ("confirmed" in form.dataset) return;
    event.preventDefault();
    const dialog = dialogFor(form, event.submitter);
    document.body.append(dialog);
    dialog.showModal();
  });
}
