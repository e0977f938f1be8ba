// What a screen reader says about words and the things on them.
import { kindOf } from "../kinds/index.js";
import { isOn } from "../model/items.js";
import { t } from "../words.js";

/** A number in [0, 1] as people write it here: .54 */
export function shortNumber(value) {
  return value >= 0.995 ? "1.0" : value.toFixed(2).replace(/^0/, "");
}

/** Words of a span as text, with dots between its pieces. */
export function spanText(tokens, { start, end, pieces = [[start, end]] }) {
  return pieces.map(([from, to]) => tokens.slice(from, to).join(" ")).join(" … ");
}

/** The label of a thing and its state; more: words between the two. */
export function sayLabel({ label, state, confidence, differs }, more = "") {
  const guess = confidence === null ? `, ${t("suggestion")}` : `, ${t("suggestion")}, ${shortNumber(confidence)}`;
  const stands = (state === "suggested" ? guess : "") + (differs ? `, ${t("differs")}` : "");
  return `${label || t("no label")}${more}${stands}`;
}

/** One thing of any kind among all that are drawn. */
export function sayItem(item, tokens, items) {
  return kindOf(item).say(item, tokens, items);
}

/** One word and all that is said about it. */
export function sayWord(i, tokens, { chips, rails, arcs }) {
  const there = [...chips, ...rails, ...arcs].filter((item) => isOn(item, i));
  return [tokens[i], ...there.map((item) => kindOf(item).sayOn(item, tokens))].join("; ");
}
