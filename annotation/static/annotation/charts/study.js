// Curves of a study: a metric a card, in it a panel for each combination of what varies.
import { asShare, chart, element, line, scale, ticks, titled, xAxis, yAxis } from "./svg.js";
import { t } from "../annotate/words.js";

const [WIDTH, HEIGHT] = [260, 170];
const [LEFT, RIGHT, TOP, BOTTOM] = [34, 252, 8, 146];
const N_OPEN = 2; // cards that are unfolded at first

const { across, baseline, metrics } = JSON.parse(document.getElementById("curves").textContent);

/** The curve of one group among all others; every single run is inside the scale. */
function panel(group, groups) {
  const last = group.points.at(-1);
  const svg = chart(WIDTH, HEIGHT, `${group.name}: ${asShare(last.score)}, ${across} ${Math.round(last.n)}`);
  const points = groups.flatMap((other) => other.points);
  const steps = range(points.map((p) => p.n));
  const scores = range(points.flatMap((p) => p.runs));
  const x = scale(steps, [LEFT, RIGHT]);
  const y = scale(scores, [BOTTOM - 6, TOP]);
  yAxis(svg, y, ticks(...scores, 4), { left: LEFT, right: RIGHT });
  svg.append(element("line", { x1: LEFT, x2: RIGHT, y1: BOTTOM, y2: BOTTOM, class: "axis" }));
  xAxis(svg, x, ticks(...steps, 3), { bottom: BOTTOM });
  for (const other of groups) {
    const kind = other.name === baseline ? "control" : "other";
    if (other !== group) svg.append(line(placed(other, x, y), `series ${kind}`));
  }
  svg.append(...group.points.flatMap((p) => dots(p, x, y)), line(placed(group, x, y), "series chosen"));
  return svg;
}

function range(values) {
  return [Math.min(...values), Math.max(...values)];
}

function placed({ points }, x, y) {
  return points.map((p) => [x(p.n), y(p.score)]);
}

function dots({ n, score, runs }, x, y) {
  return runs.map((run) =>
    titled(element("circle", { cx: x(n), cy: y(run), r: 1.5, class: "point run" }), t("{score}, mean {mean}", { score: asShare(run), mean: asShare(score) })),
  );
}

function figure(group, groups) {
  const box = document.createElement("figure");
  box.className = "curve";
  const caption = document.createElement("figcaption");
  caption.textContent = group.name;
  box.append(caption, panel(group, groups));
  return box;
}

function card(metric, groups, isOpen) {
  const box = document.createElement("details");
  box.className = "card";
  box.open = isOpen;
  const summary = document.createElement("summary");
  summary.textContent = t("{metric} by {unit}", { metric, unit: across });
  const panels = document.createElement("div");
  panels.className = "body panels";
  panels.append(...groups.map((group) => figure(group, groups)));
  box.append(summary, panels);
  return box;
}

document
  .querySelector("[data-study-curves]")
  ?.append(...Object.entries(metrics).map(([metric, groups], i) => card(metric, groups, i < N_OPEN)));
