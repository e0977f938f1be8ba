// Shows the weights as shares of all, and which choices a strategy has.
const box = document.querySelector("[data-weights]");
const sliders = [...box.querySelectorAll("input")];
const WEIGHTED = new Set(["MT-AVG", "MT-PAR", "MT-RRF", "MT-IND", "UDJS"]);
const VALUED = new Set(["MT-AVG", "MT-MAX", "MT-MIN", "MT-RRF"]); // can make a diverse batch

function showShares() {
  const total = sliders.reduce((sum, slider) => sum + Number(slider.value), 0);
  for (const slider of sliders) {
    const share = total ? Number(slider.value) / total : 1 / sliders.length;
    slider.parentElement.querySelector("output").textContent = share.toFixed(2).replace(/^0/, "");
  }
}

function showStrategy() {
  const chosen = document.querySelector("input[name=strategy]:checked");
  const takesWeights = !chosen || WEIGHTED.has(chosen.value);
  for (const slider of sliders) slider.disabled = !takesWeights;
  const mayDiffer = !chosen || VALUED.has(chosen.value);
  for (const choice of document.querySelectorAll("input[name=diversity]")) {
    if (!mayDiffer && choice.value === "none") choice.checked = true;
    choice.disabled = !mayDiffer && choice.value !== "none";
  }
}

box.addEventListener("input", showShares);
document.addEventListener("change", showStrategy);
showShares();
showStrategy();
