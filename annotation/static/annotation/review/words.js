// Answers in words: what has which label. On a page with versions it fills them in.
import { kindOf } from "../annotate/kinds/index.js";
import { t } from "../annotate/words.js";

const MOST = 6; // items that are named

/** The items of an answer as the server names them. */
export function unitsOf(task, answer) {
  const kind = kindOf(task);
  return answer === null || answer === undefined ? [] : kind.items(answer).map(kind.unit);
}

/** Some items in words; the rest is counted. */
export function inWords(units, task, tokens) {
  const kind = kindOf(task);
  const said = units.slice(0, MOST).map((unit) => {
    const text = kind.unitText(unit, tokens);
    return kind.isOneOf && !kind.isWhole ? `${kind.title(unit, tokens)} ${text}` : text;
  });
  return units.length > MOST ? t("{items} and {n} more", { items: said.join(", "), n: units.length - MOST }) : said.join(", ");
}

const versions = document.querySelectorAll("[data-said]");
if (versions.length) {
  const { sentence, tasks } = JSON.parse(document.getElementById("shown").textContent);
  for (const place of versions) {
    const task = tasks.find(({ name }) => name === place.dataset.task);
    const units = unitsOf(task, JSON.parse(place.dataset.said));
    place.textContent = inWords(units, task, sentence.tokens) || t("nothing there");
  }
}
