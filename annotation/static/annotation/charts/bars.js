// Shares of labels: what was chosen against what chance brings.
import { asShare, chart, element, scale } from "./svg.js";
import { t } from "../annotate/words.js";

const WIDTH = 400; // as the curves: one size of type
const ROW = 34;

export function driftBars(labels) {
  const height = labels.length * ROW + 8;
  const svg = chart(WIDTH, height, t("Label shares of chosen and random sentences"));
  const most = Math.max(...labels.flatMap((l) => [l.chosen, l.random]), 0.01);
  const width = scale([0, most], [0, 190]);
  labels.forEach((label, i) => {
    const top = i * ROW + 4;
    svg.append(element("text", { x: 148, y: top + 17, class: "bar-label end" }, shortened(label.label)));
    drawBar(svg, 156, top, width(label.chosen), label.chosen, "chosen");
    drawBar(svg, 156, top + 13, width(label.random), label.random, "control");
  });
  return svg;
}

function drawBar(svg, x, y, width, value, kind) {
  svg.append(
    element("rect", { x, y, width: Math.max(1, width), height: 11, class: `bar ${kind}` }),
    element("text", { x: x + width + 5, y: y + 9, class: "tick" }, asShare(value)),
  );
}

function shortened(text) {
  return text.length > 22 ? `${text.slice(0, 21)}…` : text;
}

export function driftRows(labels) {
  return [["label", "chosen", "random"], ...labels.map((l) => [l.label, l.chosen, l.random])];
}
