// Widths of small texts, measured once each on a canvas.

const context = document.createElement("canvas").getContext("2d");
const known = new Map();

/** Width in pixels of a text in a CSS font, such as "600 11px sans-serif". */
export function textWidth(text, font) {
  const key = `${font}\n${text}`;
  let width = known.get(key);
  if (width === undefined) {
    context.font = font;
    width = context.measureText(text).width;
    if (known.size > 5000) known.clear();
    known.set(key, width);
  }
  return width;
}

/** Fonts and heights of a sentence, from its computed style. */
export function readStyle(host, metrics) {
  const style = getComputedStyle(host);
  const rootSize = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  const size = parseFloat(style.fontSize);
  const small = `${11 * rootSize}px ${style.fontFamily}`;
  return {
    fonts: { plain: small, strong: `600 ${small}` },
    padding: {
      x: parseFloat(style.paddingLeft),
      y: parseFloat(style.paddingTop),
      below: parseFloat(style.paddingBottom),
    },
    inner: host.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight),
    metrics: {
      ...metrics,
      word: Math.round((metrics.word / 18) * size),
      lane: Math.round(metrics.lane * rootSize),
      row: Math.round(metrics.row * rootSize),
      chipRow: Math.round(metrics.chipRow * rootSize),
    },
  };
}

const MOST_RESERVED = 56;

/** Room to keep for the chips of some labels, within reason. */
export function widestLabel(labels, host) {
  if (!labels.length) return 0;
  const { fonts } = readStyle(host, {});
  const widest = Math.max(...labels.map((label) => textWidth(label, fonts.strong)));
  return Math.min(MOST_RESERVED, Math.ceil(widest) + 16);
}
