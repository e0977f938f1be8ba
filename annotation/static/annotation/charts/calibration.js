// Confidence against accuracy on the test slice: on the diagonal a model is well calibrated.
import { asShare, chart, element, line, scale, titled, xAxis, yAxis } from "./svg.js";
import { t, tn } from "../annotate/words.js";

const [WIDTH, HEIGHT] = [400, 320];
const [LEFT, RIGHT, TOP, BOTTOM] = [44, 384, 16, 280];
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];

export function calibrationPlot(task, data) {
  const svg = chart(WIDTH, HEIGHT, t("Calibration of {task}", { task }));
  const x = scale([0, 1], [LEFT, RIGHT]);
  const y = scale([0, 1], [BOTTOM, TOP]);
  yAxis(svg, y, TICKS, { left: LEFT, right: RIGHT });
  drawCounts(svg, data.raw.bins, x, y);
  xAxis(svg, x, TICKS, { bottom: BOTTOM, format: asShare });
  svg.append(
    line([[x(0), y(0)], [x(1), y(1)]], "diagonal"),
    element("text", { x: RIGHT, y: BOTTOM + 32, class: "tick end" }, t("confidence →")),
    element("text", { x: LEFT, y: TOP - 4, class: "tick" }, t("↑ accuracy")),
  );
  drawBins(svg, data.raw.bins, x, y, "control");
  if (data.temperature) drawBins(svg, data.scaled.bins, x, y, "chosen");
  return svg;
}

function drawCounts(svg, bins, x, y) {
  const most = Math.max(...bins.map(([, , n]) => n));
  for (const [confidence, , n] of bins) {
    const height = (n / most) * 60;
    svg.append(element("rect", { x: x(confidence) - 12, y: y(0) - height, width: 24, height, class: "count" }));
  }
}

function drawBins(svg, bins, x, y, kind) {
  svg.append(line(bins.map(([c, a]) => [x(c), y(a)]), `series ${kind}`));
  for (const [confidence, accuracy, n] of bins) {
    const mark = element("circle", { cx: x(confidence), cy: y(accuracy), r: 4, class: `mark ${kind}` });
    svg.append(titled(mark, t("confidence {sure}, accuracy {right}, {n} sentences", { sure: asShare(confidence), right: asShare(accuracy), n })));
  }
}

export function calibrationRows(data) {
  const rows = [["series", "confidence", "accuracy", "sentences"]];
  for (const kind of ["raw", "scaled"]) for (const bin of data[kind].bins) rows.push([kind, ...bin]);
  return rows;
}

/** How sure against how right, in words that say what the picture shows. */
export function calibrationWords(data) {
  const raw = gap(data.raw.bins);
  const off = Math.abs(raw) < 1
    ? t("Well calibrated")
    : raw > 0
      ? t("Overconfident by {points}", { points: points(raw) })
      : t("Underconfident by {points}", { points: points(raw) });
  if (!data.temperature) return `${off}.`;
  const scaled = gap(data.scaled.bins);
  const left = Math.abs(scaled) < 1
    ? t("within 1 point")
    : scaled > 0
      ? t("overconfident by {points}", { points: points(scaled) })
      : t("underconfident by {points}", { points: points(scaled) });
  return t("{off}; after temperature scaling ({t}) {left}.", { off, left, t: data.temperature.toFixed(2) });
}

export function mostInBin(data) {
  return Math.max(...data.raw.bins.map(([, , n]) => n), 0);
}

/** Mean confidence less mean accuracy, in points. */
function gap(bins) {
  const n = bins.reduce((sum, bin) => sum + bin[2], 0);
  return n ? (100 * bins.reduce((sum, [c, a, m]) => sum + (c - a) * m, 0)) / n : 0;
}

function points(value) {
  const n = Math.round(Math.abs(value));
  return tn("{n} point", "{n} points", n);
}
