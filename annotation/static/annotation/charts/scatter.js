// The pool in confidence space, two tasks at a time; left and low is asked first.
import { asShare, chart, element, line, scale, ticks, titled, xAxis, yAxis } from "./svg.js";
import { t } from "../annotate/words.js";

const [WIDTH, HEIGHT] = [420, 340];
const [LEFT, RIGHT, TOP, BOTTOM] = [44, 404, 16, 300];
const LOWEST = [0.95, 0.9, 0.8, 0.6, 0.4, 0.2, 0]; // where an axis may begin

export function poolMap(pool, first, second, sentences) {
  const svg = chart(WIDTH, HEIGHT, t("Confidence in {a} against {b}", { a: pool.tasks[first], b: pool.tasks[second] }));
  svg.setAttribute("role", "group"); // its marks are links
  const shown = pool.points.filter((p) => p.confidence[first] !== null && p.confidence[second] !== null);
  const places = shown.map((p) => ({ ...p, x: p.confidence[first], y: p.confidence[second] }));
  const [left, low] = [lowest(places.map((p) => p.x)), lowest(places.map((p) => p.y))];
  const x = scale([left, 1], [LEFT, RIGHT]);
  const y = scale([low, 1], [BOTTOM, TOP]);
  yAxis(svg, y, ticks(low, 1), { left: LEFT, right: RIGHT });
  xAxis(svg, x, ticks(left, 1), { bottom: BOTTOM, format: asShare });
  svg.append(
    element("text", { x: RIGHT, y: BOTTOM + 32, class: "tick end" }, `${t("confidence")}, ${pool.tasks[first]} →`),
    element("text", { x: LEFT, y: TOP - 4, class: "tick" }, `↑ ${t("confidence")}, ${pool.tasks[second]}`),
  );
  drawFrontier(svg, places, x, y);
  for (const kind of ["pool", "random", "chosen"]) {
    for (const p of places.filter((place) => place.kind === kind)) svg.append(linked(drawPoint(p, x, y), p, sentences));
  }
  return svg;
}

/** Where the axis of these confidences begins, so that a sure model's pool is not one dot. */
function lowest(values) {
  return LOWEST.find((low) => values.every((value) => value >= low));
}

/** A mark that opens its sentence; those that were asked are in the order of the Tab key too. */
function linked(mark, p, sentences) {
  const tabindex = p.kind === "pool" ? -1 : null;
  const link = element("a", { href: `${sentences}${p.sentence}/`, "aria-label": p.text, tabindex });
  link.append(mark);
  return link;
}

function drawPoint(p, x, y) {
  const words = `${p.text}\n${asShare(p.x)}, ${asShare(p.y)}`;
  if (p.kind === "random") {
    const square = { x: x(p.x) - 4, y: y(p.y) - 4, width: 8, height: 8, class: "point random" };
    return titled(element("rect", square), words);
  }
  return titled(element("circle", { cx: x(p.x), cy: y(p.y), r: p.kind === "chosen" ? 4.5 : 2.5, class: `point ${p.kind}` }), words);
}

// The points that no other one is below in both tasks.
function drawFrontier(svg, places, x, y) {
  const front = [];
  for (const p of places.slice().sort((a, b) => a.x - b.x || a.y - b.y)) {
    if (!front.length || p.y < front[front.length - 1].y) front.push(p);
  }
  if (front.length < 2) return;
  const steps = [];
  front.forEach((p, i) => {
    if (i) steps.push([x(p.x), y(front[i - 1].y)]);
    steps.push([x(p.x), y(p.y)]);
  });
  svg.append(line([[steps[0][0], TOP], ...steps, [RIGHT, steps[steps.length - 1][1]]], "frontier"));
}

export function poolRows(pool) {
  return [
    ["sentence", "kind", ...pool.tasks],
    ...pool.points.map((p) => [p.sentence, p.kind, ...p.confidence.map((c) => c ?? "")]),
  ];
}
