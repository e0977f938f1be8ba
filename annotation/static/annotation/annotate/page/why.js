// Why this sentence: the reason in words, and how sure the model is of each task.
import { element } from "../dom.js";
import { shortNumber } from "../sentence/speech.js";
import { bar } from "./detail.js";

const WIDE = "(min-width: 641px)";

/** Show the reason of an ask; the panel is open wherever there is room for it. */
export function renderWhy(root, state) {
  const ask = state?.ask;
  if (root.dataset.ask === String(ask?.id)) return;
  root.dataset.ask = String(ask?.id);
  root.replaceChildren();
  if (!ask) return;
  const isOpen = (root.dataset.open ?? String(matchMedia(WIDE).matches)) === "true";
  const details = element("details", { open: isOpen });
  const rank = element("span", { class: "push small faint number" }, rankText(ask));
  details.append(element("summary", {}, "Why this sentence?", rank));
  details.append(element("div", { class: "body stack" }, ...reasons(ask)));
  details.addEventListener("toggle", () => (root.dataset.open = String(details.open)));
  root.append(details);
}

function rankText({ rank, n_asks: n }) {
  return `rank ${rank.toLocaleString()} of ${n.toLocaleString()}`;
}

function reasons(ask) {
  const parts = [element("p", { class: "small muted" }, ask.why || "It is next in the queue.")];
  const sure = Object.entries(ask.confidences ?? {}).sort(([, a], [, b]) => a - b);
  if (sure.length) {
    const list = element("ul", { class: "bars", "aria-label": "The model's confidence" });
    for (const [task, confidence] of sure) {
      const name = element("span", { class: "bar-name", title: task }, task);
      list.append(element("li", {}, name, bar(confidence), shortNumber(confidence)));
    }
    parts.push(
      list,
      element("p", { class: "small faint" }, "The model's confidence. Lower is asked first."),
    );
  }
  if (ask.predicted_seconds) {
    parts.push(element("p", { class: "small faint" }, `Expected effort: ${seconds(ask)}.`));
  }
  if (ask.is_blind) {
    parts.push(
      element("p", { class: "small faint" }, "Shown without suggestions, to keep them honest."),
    );
  }
  return parts;
}

function seconds({ predicted_seconds: value }) {
  return value < 90 ? `${Math.round(value)} seconds` : `${Math.round(value / 60)} minutes`;
}
