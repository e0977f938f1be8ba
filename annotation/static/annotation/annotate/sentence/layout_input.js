// What the geometry needs to know about a sentence: sizes of its words, arcs and chips.
import { arcLabelWidth } from "./arcs.js";
import { chipWidth } from "./chips.js";

const NARROW = 640; // pixels below which words stand closer
const GAP = 7;
const NARROW_GAP = 3;

/** Input of layoutSentence. words: Words; room: {nTagRows, nSpanRows,
 *  leastWordWidth} that is kept free. */
export function layoutInput({ items, words, room, style, gap = GAP }) {
  const { fonts, inner, metrics } = style;
  const order = new Map(items.spans.map((span, i) => [span.id, i]));
  const arc = (entry) => ({
    id: entry.id,
    from: entry.head ? entry.head - 1 : null,
    to: entry.dep,
    labelWidth: arcLabelWidth(entry, fonts),
  });
  return {
    words: words.measure(leastWidths(items.tags, words, room, fonts)),
    direction: words.direction,
    tree: items.tree.map(arc),
    treeBelow: items.treeBelow.map(arc),
    spans: items.spans.map((span) => ({ ...span, labelWidth: chipWidth(span, fonts) })),
    relations: items.relations.map((link) => ({
      id: link.id,
      from: order.get(link.from),
      to: order.get(link.to),
      labelWidth: arcLabelWidth(link, fonts),
    })),
    nTagRows: Math.max(room.nTagRows, ...items.tags.map(({ row }) => row + 1)),
    nSpanRows: room.nSpanRows,
    width: inner,
    gap: inner < NARROW ? Math.min(NARROW_GAP, gap) : gap,
    metrics,
  };
}

/** A word is at least as wide as the tags under it. */
function leastWidths(tags, words, room, fonts) {
  const least = words.nodes.map(() => room.leastWordWidth);
  for (const tag of tags) least[tag.at] = Math.max(least[tag.at], chipWidth(tag, fonts));
  return least;
}
