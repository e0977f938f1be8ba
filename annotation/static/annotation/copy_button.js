// Buttons that copy a field's text; they stay hidden where the browser gives no clipboard.
import { t } from "./annotate/words.js";
for (const button of document.querySelectorAll("[data-copies]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copies);
    field.select();
    await navigator.clipboard.writeText(field.value);
    button.textContent = t("Copied");
  });
}
