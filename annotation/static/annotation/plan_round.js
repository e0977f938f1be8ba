// Shows the weights as shares of all, and which settings the chosen strategy has a use for.
// What a strategy can do stands on its radio button, what a setting needs on its field.
import { t, tn } from "./annotate/words.js";
const UNITS = { sentences: t("sentences"), cost: t("cost units") };
const sliders = [...document.querySelectorAll("[data-weights] input[type=range]")];

function showShares() {
  const total = sliders.reduce((sum, slider) => sum + Number(slider.value), 0);
  for (const slider of sliders) {
    const share = total ? Number(slider.value) / total : 1 / sliders.length;
    slider.parentElement.querySelector("output").textContent = share.toFixed(2).replace(/^0/, "");
  }
}

function showStrategy() {
  const chosen = document.querySelector("input[name=strategy]:checked");
  for (const field of document.querySelectorAll("[data-needs]")) {
    const isUsed = !chosen || chosen.dataset[field.dataset.needs] === "yes";
    field.hidden = !isUsed;
    for (const input of field.querySelectorAll("input, select")) {
      const isDefault = input.type === "radio" && input.value === field.dataset.without;
      if (!isUsed && isDefault) input.checked = true;
      input.disabled = !isUsed && !isDefault;
    }
  }
}

const amount = document.querySelector("#plan [name=amount]");
const budgets = JSON.parse(document.getElementById("preview-budgets")?.textContent || '""') || {};

/** What the budget buys: as the preview computed it, in between by the nearest one's pace. */
function showBudget() {
  if (!amount) return;
  const unit = document.querySelector("#plan [name=unit]:checked")?.value ?? "minutes";
  const minutes = Number(amount.value);
  for (const button of document.querySelectorAll("[data-preset]")) {
    const isIt = unit === "minutes" && Number(button.dataset.preset) === minutes;
    button.setAttribute("aria-pressed", String(isIt));
  }
  const words = document.querySelector("[data-unit]");
  if (words) words.textContent = unit === "minutes" ? t("minutes of all people together") : UNITS[unit] ?? unit;
  const told = document.querySelector(".says");
  if (told) told.hidden = unit !== "minutes" || !(minutes > 0);
  if (unit !== "minutes" || !(minutes > 0)) return;
  const n = document.querySelector("[data-n-sentences]");
  const sizes = Object.keys(budgets).map(Number);
  const spent = document.querySelector("[data-minutes]");
  if (spent) spent.textContent = tn("{n} minute", "{n} minutes", minutes);
  if (n?.dataset.seconds) {
    showCount(n, Math.min((minutes * 60) / Number(n.dataset.seconds), Number(n.dataset.most)));
    return;
  }
  if (!sizes.length || !n) return;
  const nearest = sizes.reduce((a, b) => (Math.abs(b - minutes) < Math.abs(a - minutes) ? b : a));
  const bought = budgets[String(nearest)];
  const ratio = bought.is_all ? Math.min(1, minutes / nearest) : minutes / nearest;
  showCount(n, bought.n_sentences * ratio);
  const nTest = document.querySelector("[data-n-test]");
  const tests = Math.round(bought.n_test * ratio);
  nTest.textContent = String(tests);
  nTest.parentElement.hidden = !tests;
}

function showCount(node, n) {
  const rounded = n < 20 ? Math.round(n) : Math.round(n / 5) * 5;
  node.textContent = tn("{n} sentence", "{n} sentences", rounded);
}

document.addEventListener("click", ({ target }) => {
  const preset = target.closest?.("[data-preset]")?.dataset.preset;
  if (!preset) return;
  amount.value = preset;
  const minutes = document.querySelector("#plan [name=unit][value=minutes]");
  if (minutes) minutes.checked = true;
  showBudget();
});
for (const bar of document.querySelectorAll(".bars [data-share]")) {
  bar.style.blockSize = `${100 * Number(bar.dataset.share)}%`;
}
document.addEventListener("input", showBudget);
document.addEventListener("change", showBudget);
showBudget();
document.addEventListener("input", showShares);
document.addEventListener("change", showStrategy);
showShares();
showStrategy();
