// Shows a label's new colour beside the list in which it was chosen.
for (const row of document.querySelectorAll("[data-label-row]")) {
  const label = row.querySelector(".label");
  row.querySelector("select")?.addEventListener("change", (event) => {
    label.dataset.colour = event.target.value;
  });
}
