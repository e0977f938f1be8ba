// The theme switch without a round trip: the page follows the system until someone chooses.
const YEAR = 365 * 24 * 60 * 60;
const root = document.documentElement;

export function currentTheme() {
  if (root.dataset.theme) return root.dataset.theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function setTheme(theme) {
  root.dataset.theme = theme;
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `theme=${theme}; path=/; max-age=${YEAR}; samesite=lax${secure}`;
}

for (const form of document.querySelectorAll("[data-theme-switch]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    setTheme(currentTheme() === "dark" ? "light" : "dark");
  });
}

// Where the tabs scroll, the current one is in view.
const tab = document.querySelector(".tabs [aria-current]");
const bar = tab?.parentElement;
if (bar && bar.scrollWidth > bar.clientWidth) bar.scrollLeft = tab.offsetLeft - bar.offsetLeft - (bar.clientWidth - tab.offsetWidth) / 2;
