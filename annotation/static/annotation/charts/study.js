// Curves of a study: one chart a metric, one line for each combination of what varies.
import { asShare, band, chart, element, line, scale, ticks, titled, xAxis, yAxis } from "./svg.js";

const [WIDTH, HEIGHT] = [520, 320];
const [LEFT, RIGHT, TOP, BOTTOM] = [48, 400, 16, 280];
const N_HUES = 12;

function draw(metric, groups) {
  const svg = chart(WIDTH, HEIGHT, metric);
  const points = groups.flatMap((group) => group.points);
  const low = Math.min(...points.map((p) => p.low ?? p.score));
  const high = Math.max(...points.map((p) => p.high ?? p.score));
  const x = scale([Math.min(...points.map((p) => p.n)), Math.max(...points.map((p) => p.n))], [LEFT, RIGHT]);
  const y = scale([low, high], [BOTTOM, TOP]);
  yAxis(svg, y, ticks(low, high, 5), { left: LEFT, right: RIGHT });
  const across = ticks(Math.min(...points.map((p) => p.n)), Math.max(...points.map((p) => p.n)), 4);
  if (across.length) xAxis(svg, x, across, { bottom: BOTTOM });
  groups.slice(0, N_HUES).forEach((group, i) => {
    const known = group.points.filter((p) => p.low !== null);
    if (known.length > 1 && groups.length <= 4) {
      const area = band(known.map((p) => [x(p.n), y(p.high)]), known.map((p) => [x(p.n), y(p.low)]), "band");
      area.dataset.colour = i;
      svg.append(area);
    }
    const drawn = line(group.points.map((p) => [x(p.n), y(p.score)]), "series");
    drawn.dataset.colour = i;
    const last = group.points[group.points.length - 1];
    svg.append(titled(drawn, `${group.name}: ${asShare(last.score)} at ${last.n}`));
    svg.append(element("text", { x: RIGHT + 8, y: TOP + 12 + 15 * i, class: "tick", "data-colour": i }, group.name.slice(0, 20)));
  });
  return svg;
}

const box = document.querySelector("[data-study-curves]");
for (const [metric, groups] of Object.entries(JSON.parse(document.getElementById("curves").textContent))) {
  const card = document.createElement("section");
  card.className = "card";
  const head = document.createElement("header");
  const title = document.createElement("h2");
  title.textContent = metric;
  head.append(title);
  const body = document.createElement("div");
  body.className = "body";
  body.append(draw(metric, groups));
  card.append(head, body);
  box.append(card);
}
