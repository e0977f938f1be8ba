// SVG elements, scales and axes: what every chart is made of. Text is always set as text.
const NS = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, ...children) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  for (const child of children) made.append(child);
  return made;
}

export function scale([low, high], [from, to]) {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

// Round steps that give about n ticks.
export function ticks(low, high, n = 5) {
  const raw = (high - low) / n || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-6; value += step) {
    found.push(Number(value.toPrecision(10)));
  }
  return found;
}

export function asShare(value) {
  return value >= 1 ? value.toFixed(2) : value.toFixed(2).replace(/^0/, "");
}

export function chart(width, height, label) {
  return element("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": label });
}

export function yAxis(svg, y, values, { left, right, format = asShare }) {
  for (const value of values) {
    svg.append(
      element("line", { x1: left, x2: right, y1: y(value), y2: y(value), class: "grid" }),
      element("text", { x: left - 8, y: y(value) + 4, class: "tick end" }, format(value)),
    );
  }
}

export function xAxis(svg, x, values, { bottom, format = String }) {
  const [first, last] = [values[0], values[values.length - 1]];
  svg.append(element("line", { x1: x(first), x2: x(last), y1: bottom, y2: bottom, class: "axis" }));
  for (const value of values) {
    svg.append(element("text", { x: x(value), y: bottom + 16, class: "tick middle" }, format(value)));
  }
}

export function line(points, className) {
  return element("polyline", { points: points.map(([x, y]) => `${x},${y}`).join(" "), class: className });
}

export function band(upper, lower, className) {
  const outline = [...upper, ...lower.slice().reverse()];
  return element("polygon", { points: outline.map(([x, y]) => `${x},${y}`).join(" "), class: className });
}

// A word that appears under the pointer and for screen readers.
export function titled(mark, words) {
  mark.append(element("title", {}, words));
  return mark;
}
