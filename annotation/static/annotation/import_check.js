// The check of a file is made anew when what it is read by changes.
for (const field of document.querySelectorAll("[data-redraws]")) {
  field.addEventListener("change", () => field.form.requestSubmit());
}
