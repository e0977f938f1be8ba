// A learning curve: scores over labelled sentences, their intervals, the control, target, forecast.
import { asShare, band, chart, element, line, scale, ticks, titled, xAxis, yAxis } from "./svg.js";
import { t, tn } from "../annotate/words.js";

const [WIDTH, HEIGHT] = [400, 250];
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 380, 16, 220];

/** The height of scale that a task's scores need. */
export function spanOf(data) {
  const [low, high] = ends(data);
  return high - low;
}

function ends(data) {
  const points = [...data.chosen, ...data.control];
  const values = points.flatMap((p) => [p.low ?? p.score, p.high ?? p.score, p.score]);
  if (data.target !== null) values.push(data.target);
  const low = Math.max(0, Math.floor(Math.min(...values) * 10 - 0.5) / 10);
  return [low, Math.min(1, Math.ceil(Math.max(...values) * 10 + 0.2) / 10)];
}

/** A curve on a scale of a height that all tasks share, so that slopes compare. */
export function learningCurve(data, height = spanOf(data)) {
  const svg = chart(WIDTH, HEIGHT, describe(data));
  const points = [...data.chosen, ...data.control];
  const forecast = data.forecast?.curve ?? [];
  let [low, high] = ends(data);
  low = Math.max(0, high - height);
  high = Math.min(1, low + height);
  const most = Math.max(...points.map((p) => p.n), ...forecast.map((p) => p.n));
  const across = ticks(0, most, 4);
  if (across[across.length - 1] < most) across.push(across[across.length - 1] + (across[1] ?? most));
  const x = scale([0, across[across.length - 1]], [LEFT, RIGHT]);
  const whole = scale([low, high], [BOTTOM, TOP]);
  const y = (value) => whole(Math.min(high, Math.max(low, value))); // what lies beyond ends at the frame
  yAxis(svg, y, ticks(low, high, Math.max(4, Math.round(10 * height) + 1)), { left: LEFT, right: RIGHT });
  xAxis(svg, x, across, { bottom: BOTTOM });
  if (data.target !== null) drawTarget(svg, y, data.target);
  drawSeries(svg, data.control, x, y, "control");
  drawForecast(svg, forecast, x, y);
  drawSeries(svg, data.chosen, x, y, "chosen");
  return svg;
}

function drawTarget(svg, y, target) {
  svg.append(
    element("line", { x1: LEFT, x2: RIGHT, y1: y(target), y2: y(target), class: "target" }),
    element("text", { x: LEFT + 2, y: y(target) - 5, class: "target-text" }, t("target {score}", { score: asShare(target) })),
  );
}

function drawSeries(svg, points, x, y, kind) {
  if (!points.length) return;
  const known = points.filter((p) => p.low !== null);
  if (known.length > 1) {
    const upper = known.map((p) => [x(p.n), y(p.high)]);
    const lower = known.map((p) => [x(p.n), y(p.low)]);
    svg.append(band(upper, lower, `band ${kind}`));
  } else if (known.length) {
    const [{ n, low, high }] = known;
    svg.append(line([[x(n), y(low)], [x(n), y(high)]], `series ${kind}`));
  }
  svg.append(line(points.map((p) => [x(p.n), y(p.score)]), `series ${kind}`));
  for (const p of points) {
    const mark = element("circle", { cx: x(p.n), cy: y(p.score), r: 4, class: `mark ${kind}` });
    const interval = p.low === null ? "" : ` (${asShare(p.low)}–${asShare(p.high)})`;
    svg.append(titled(mark, t("round {round}: {score} on {n} sentences", { round: p.round, score: asShare(p.score) + interval, n: p.n })));
  }
  if (kind === "chosen") {
    const last = points[points.length - 1];
    const beside = y(last.score) + (y(last.score) + 22 > BOTTOM ? -8 : 18); // never on the axis
    svg.append(element("text", { x: x(last.n) + 6, y: beside, class: "value" }, asShare(last.score)));
  }
}

function drawForecast(svg, points, x, y) {
  if (points.length < 2) return;
  svg.append(band(points.map((p) => [x(p.n), y(p.high)]), points.map((p) => [x(p.n), y(p.low)]), "band forecast"));
  svg.append(line(points.map((p) => [x(p.n), y(p.score)]), "series forecast"));
}

function describe(data) {
  const last = data.chosen[data.chosen.length - 1];
  return tn("{task}: {metric} {score} after {n} round", "{task}: {metric} {score} after {n} rounds", data.chosen.length, {
    task: data.task,
    metric: data.metric,
    score: asShare(last.score),
  });
}

export function curveRows(data) {
  const rows = [["series", "round", "labelled", data.metric, "low", "high"]];
  for (const kind of ["chosen", "control"]) {
    for (const p of data[kind]) rows.push([kind, p.round, p.n, p.score, p.low ?? "", p.high ?? ""]);
  }
  return rows;
}
