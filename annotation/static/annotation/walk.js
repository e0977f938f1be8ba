// Lists with a preview: j, k and arrows walk, Home and End jump; keys press the buttons they name.
const list = document.querySelector("[data-walk]");
const rows = [...(list?.querySelectorAll("a") ?? [])];
const current = rows.findIndex((row) => row.hasAttribute("aria-current"));
if (list && "walking" in list.dataset) rows[current]?.focus({ preventScroll: true });
rows[current]?.scrollIntoView({ block: "nearest" });

const steps = {
  j: () => current + 1,
  ArrowDown: () => current + 1,
  k: () => current - 1,
  ArrowUp: () => current - 1,
  Home: () => 0,
  End: () => rows.length - 1,
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.target.closest("[data-editor]")) return;
  if (event.key === "Enter" && event.ctrlKey) return press(event, "[data-main]");
  if (event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input, textarea, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.ctrlKey) return press(event, `[data-key="Control+${CSS.escape(event.key)}"]`);
  const step = steps[event.key]?.();
  if (step !== undefined && rows[step] && step !== current) {
    event.preventDefault();
    rows[step].click();
  } else if (event.key !== "Enter" || isHere(event.target)) {
    press(event, `[data-key="${CSS.escape(event.key)}"]`);
  }
});

/** Whether Enter has nothing of its own to do: on the chosen row, or on nothing at all. */
function isHere(target) {
  return target === rows[current] || !target.closest("a, button, summary");
}

function press(event, selector) {
  const found = [...document.querySelectorAll(selector)].find((node) => node.offsetParent);
  if (!found) return;
  event.preventDefault();
  if (found.matches("textarea, input")) found.focus();
  else found.click();
}

// A button that needs words asks for them first.
for (const button of document.querySelectorAll("[data-needs]")) {
  button.addEventListener("click", (event) => {
    const field = button.form.elements[button.dataset.needs];
    if (field.value.trim()) return;
    event.preventDefault();
    field.focus();
  });
}

// A filter shows its results as soon as something is chosen.
for (const form of document.querySelectorAll("[data-submits]")) {
  form.addEventListener("change", () => form.requestSubmit());
}
