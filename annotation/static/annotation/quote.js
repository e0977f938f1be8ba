// Lets the quote follow every change of a target, the deadline, the hours or a what-if.
const WAIT = 300; // ms after the last change
const form = document.getElementById("wish");
const problem = form.querySelector("[data-problem]");
let timer = 0;
let newest = 0;

/** Say what is wrong with what was typed, or nothing. */
function tell(page) {
  const told = page.querySelector("[data-problem]");
  problem.textContent = told?.textContent ?? "";
  problem.hidden = !told || told.hidden;
}

/** Take over the live parts of a page that the server has drawn, but not the field in hand. */
function show(page) {
  tell(page);
  const name = document.activeElement?.name;
  const value = document.activeElement?.value;
  for (const part of form.querySelectorAll("[data-live]")) {
    const drawn = page.querySelector(`[data-live=${part.dataset.live}]`);
    if (drawn) part.replaceWith(document.adoptNode(drawn));
  }
  const text = page.querySelector("[data-text]");
  if (text) form.querySelector("[data-text]").value = text.value;
  const isOne = (field) => field.name === name && (field.type !== "checkbox" || field.value === value);
  const held = name && [...form.elements].find(isOne);
  if (held && held.type !== "checkbox") held.value = value;
  held?.focus();
}

async function follow() {
  const number = ++newest;
  const body = new FormData(form);
  body.set("do", "show");
  for (const part of form.querySelectorAll("[data-live]")) part.dataset.waits = "";
  const answer = await fetch(form.action, { method: "POST", body });
  if (number !== newest) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (answer.ok) show(page);
  else tell(page); // what was typed stays
  for (const part of form.querySelectorAll("[data-waits]")) delete part.dataset.waits;
}

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(follow, WAIT);
});

const copy = form.querySelector("[data-copy]");
if (copy && navigator.clipboard) {
  copy.hidden = false;
  copy.addEventListener("click", () => navigator.clipboard.writeText(form.querySelector("[data-text]").value));
}
