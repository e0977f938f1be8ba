// A chart as a PNG with its colours, its numbers as CSV; nothing leaves the browser.
// Styles that SVG also takes as attributes: the content security policy refuses style attributes.
import { t } from "../annotate/words.js";
const STYLED = [
  "fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight",
  "text-anchor", "opacity", "fill-opacity",
];

export function downloadButtons(name, svgs, rows) {
  const box = document.createElement("span");
  box.className = "downloads";
  box.append(button("PNG", t("{name} as a picture", { name }), () => savePng(name, svgs())));
  box.append(button("CSV", t("{name} as a table", { name }), () => saveCsv(name, rows())));
  return box;
}

function button(words, label, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "button quiet";
  made.textContent = words;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}

function saveCsv(name, rows) {
  const quoted = (cell) => (/[",\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell));
  const text = rows.map((row) => row.map(quoted).join(",")).join("\n") + "\n";
  save(`${name}.csv`, new Blob([text], { type: "text/csv" }));
}

async function savePng(name, svgs) {
  const drawn = await Promise.all(svgs.map(asImage));
  const canvas = document.createElement("canvas");
  canvas.width = 2 * Math.max(...drawn.map((d) => d.width));
  canvas.height = 2 * drawn.reduce((sum, d) => sum + d.height, 0);
  const context = canvas.getContext("2d");
  context.fillStyle = getComputedStyle(svgs[0].closest(".card") ?? document.body).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  let top = 0;
  for (const { image, width, height } of drawn) {
    context.drawImage(image, 0, top, 2 * width, 2 * height);
    top += 2 * height;
  }
  canvas.toBlob((blob) => save(`${name}.png`, blob));
}

async function asImage(svg) {
  const { width, height } = svg.viewBox.baseVal;
  const copy = svg.cloneNode(true);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const originals = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((node, i) => {
    const style = getComputedStyle(originals[i]);
    for (const key of STYLED) node.setAttribute(key, style.getPropertyValue(key));
  });
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  return { image, width, height };
}

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 5000);
}
