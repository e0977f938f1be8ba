// Adds and removes tasks without a round trip, and keeps the list of tasks whose answers another may link.
const editor = document.querySelector("[data-task-editor]");
const rows = editor.querySelector("[data-task-rows]");
const template = editor.querySelector("[data-task-template]");
const total = editor.querySelector("[name$=TOTAL_FORMS]");
const spanTasks = document.getElementById("span-tasks");

function addTask() {
  const number = Number(total.value);
  total.value = number + 1;
  const row = template.content.cloneNode(true);
  for (const element of row.querySelectorAll("*")) renumber(element, number);
  rows.append(row);
  rows.lastElementChild.querySelector("input:not([type=hidden])").focus();
}

function renumber(element, number) {
  for (const name of ["id", "name", "for", "value", "aria-describedby"]) {
    const value = element.getAttribute(name);
    if (value?.includes("__prefix__")) element.setAttribute(name, value.replaceAll("__prefix__", number));
  }
}

function removeTask(row) {
  const next = row.nextElementSibling ?? row.previousElementSibling;
  row.remove();
  (next?.querySelector("[data-remove-task]") ?? editor.querySelector("[data-add-task]")).focus();
  listSpanTasks();
}

function listSpanTasks() {
  const options = rows.querySelectorAll("[name$=-kind] [data-links]");
  const linked = new Set([...options].map((option) => option.dataset.links));
  const names = [...rows.querySelectorAll("[data-task-row]")]
    .filter((row) => linked.has(row.querySelector("[name$=-kind]").value))
    .map((row) => row.querySelector("[name$=-name]").value.trim());
  spanTasks.replaceChildren(...names.filter(Boolean).map((name) => new Option(name, name)));
}

editor.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  event.preventDefault();
  if ("addTask" in button.dataset) addTask();
  else removeTask(button.closest("[data-task-row]"));
});
editor.addEventListener("input", listSpanTasks);
listSpanTasks();

// A template is chosen by a link: the name that was typed goes along.
for (const link of document.querySelectorAll("[data-keeps-name]")) {
  link.addEventListener("click", () => {
    const url = new URL(link.href);
    url.searchParams.set("name", document.getElementById("id_name").value);
    link.href = url;
  });
}
