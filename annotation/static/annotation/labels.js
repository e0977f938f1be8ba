// The labels of a task: filtered, chosen, renamed and described in place, moved by keys or mouse.
import { t } from "./annotate/words.js";
const table = document.querySelector(".label-rows");
const rows = () => [...table.tBodies[0].rows].filter((row) => row.dataset.label);
const bar = document.getElementById("chosen");
const change = document.getElementById("change");
const shown = document.querySelector("[data-shown]");
const find = document.querySelector("[data-find]");
let wanted = ""; // which rows are shown

function showRows() {
  const parts = find.value.trim().toLowerCase();
  let n = 0;
  for (const row of rows()) {
    const isFound = row.textContent.toLowerCase().includes(parts);
    row.hidden = !isFound || (wanted !== "" && !(wanted in row.dataset));
    n += !row.hidden;
  }
  shown.textContent = t("{n} of {all} shown, in the order of the annotate page.", { n, all: rows().length });
}

find.addEventListener("input", showRows);
for (const button of document.querySelectorAll("[data-show]")) {
  button.addEventListener("click", () => {
    wanted = button.dataset.show;
    for (const other of document.querySelectorAll("[data-show]")) {
      other.setAttribute("aria-pressed", other === button);
    }
    showRows();
  });
}

function showChosen() {
  const n = table.querySelectorAll("input:checked").length;
  bar.querySelector("[data-n-chosen]").textContent = n
    ? t("{n} chosen", { n })
    : t("Choose labels to merge, retire or remove them.");
  for (const button of bar.querySelectorAll("[data-least]")) {
    button.disabled = n < Number(button.dataset.least);
  }
  for (const row of rows()) row.toggleAttribute("data-chosen", row.querySelector("input").checked);
}

table.addEventListener("change", showChosen);
showChosen();
for (const select of document.querySelectorAll("[data-submit]")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}

/** Put a field in the place of what a row shows; Enter sends it, Esc leaves all as it was. */
function editInPlace(row, place, action, value) {
  if (row.querySelector(".in-place")) return;
  const field = document.createElement("input");
  field.className = "in-place";
  field.value = value;
  field.setAttribute("aria-label", action === "rename" ? t("New name of {label}", { label: value }) : t("What {label} means", { label: row.dataset.name }));
  place.hidden = true;
  place.after(field);
  field.focus();
  field.select();
  const leave = () => {
    field.remove();
    place.hidden = false;
  };
  field.addEventListener("blur", leave);
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") {
      leave();
      row.focus();
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      send(row, action, field.value);
    }
  });
}

function send(row, action, value) {
  change.elements.label.value = row.dataset.label;
  change.elements.action.value = action;
  change.elements[action === "rename" ? "name" : "description"].value = value;
  HTMLFormElement.prototype.submit.call(change);
}

function rename(row) {
  editInPlace(row, row.querySelector("[data-rename]"), "rename", row.dataset.name);
}

function describe(row) {
  const place = row.querySelector("[data-describe]");
  const inner = place.firstElementChild ?? place.firstChild;
  const holder = document.createElement("span");
  holder.append(inner);
  place.append(holder);
  editInPlace(row, holder, "describe", "bare" in row.dataset ? "" : holder.textContent.trim());
}

/** Move a row and tell the server its place; on a refusal the page is shown as it is there. */
async function move(row, before) {
  row.parentElement.insertBefore(row, before);
  const [token] = document.cookie.match(/(?<=csrftoken=)[^;]+/) ?? [bar.elements.csrfmiddlewaretoken.value];
  const answer = await fetch(`${table.dataset.task}${row.dataset.label}/`, {
    method: "PATCH",
    headers: { "Content-Type": "application/json", "X-CSRFToken": token },
    body: JSON.stringify({ position: rows().indexOf(row) }),
  });
  if (!answer.ok) location.reload();
}

function step(row, by) {
  const all = rows();
  const i = all.indexOf(row) + by;
  if (i < 0 || i >= all.length) return;
  move(row, by < 0 ? all[i] : (all[i].nextElementSibling ?? null));
  row.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input:not([type=checkbox]), textarea, select, dialog")) return;
  const row = event.target.closest("tr[data-label]");
  if (event.key === "m" && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const merge = bar.querySelector('[data-key="m"]');
    if (!merge.disabled) merge.click();
    return;
  }
  if (!row) return;
  const act = {
    F2: () => rename(row),
    ArrowUp: () => (event.altKey ? step(row, -1) : focusRow(row, -1)),
    ArrowDown: () => (event.altKey ? step(row, 1) : focusRow(row, 1)),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

function focusRow(row, by) {
  const all = rows().filter((other) => !other.hidden);
  all[all.indexOf(row) + by]?.focus();
}

for (const row of rows()) {
  row.querySelector("[data-rename]").addEventListener("dblclick", () => rename(row));
  row.querySelector("[data-describe]").addEventListener("click", (event) => {
    if (!event.target.closest(".in-place")) describe(row);
  });
  row.addEventListener("click", (event) => {
    if (!event.target.closest("input, button, summary, a, textarea, [data-describe]")) row.focus();
  });
}

let dragged = null;
table.addEventListener("dragstart", (event) => {
  dragged = event.target.closest("tr[data-label]");
});
table.addEventListener("dragover", (event) => {
  if (dragged && event.target.closest("tr[data-label]")) event.preventDefault();
});
table.addEventListener("drop", (event) => {
  const over = event.target.closest("tr[data-label]");
  if (!dragged || !over || over === dragged) return;
  event.preventDefault();
  const all = rows();
  move(dragged, all.indexOf(dragged) < all.indexOf(over) ? over.nextElementSibling : over);
  dragged = null;
});

(document.querySelector("[data-here]") ?? rows()[0])?.setAttribute("tabindex", "0");
document.querySelector("[data-here]")?.focus({ preventScroll: false });
