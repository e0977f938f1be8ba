// What a screen reader says about words and the things on them.

/** A number in [0, 1] as people write it here: .54 */
export function shortNumber(value) {
  return value >= 0.995 ? "1.0" : value.toFixed(2).replace(/^0/, "");
}

/** Words of a span as text. */
export function spanText(tokens, { start, end }) {
  return tokens.slice(start, end).join(" ");
}

export function sayTag(tag, tokens) {
  return `${tokens[tag.at]}, ${tag.label}${sayState(tag)}`;
}

export function saySpan(span, tokens) {
  return `${spanText(tokens, span)}, ${span.label}${sayState(span)}`;
}

export function sayArc(arc, tokens) {
  const head = arc.head ? tokens[arc.head - 1] : "root";
  return `${head} to ${tokens[arc.dep]}, ${arc.label || "no label"}${sayState(arc)}`;
}

export function sayRelation(link, tokens, spans) {
  const text = (id) =>
    spanText(
      tokens,
      spans.find((span) => span.id === id),
    );
  return `${text(link.from)} to ${text(link.to)}, ${link.label}${sayState(link)}`;
}

/** One thing of any kind, for an announcement. */
export function sayItem(item, tokens, spans) {
  const say = { tags: sayTag, spans: saySpan, tree: sayArc, relations: sayRelation }[item.kind];
  return say ? say(item, tokens, spans) : `${item.task}, ${item.label}${sayState(item)}`;
}

/** One word and all that is said about it. */
export function sayWord(i, tokens, items) {
  const parts = [tokens[i]];
  for (const tag of items.tags) if (tag.at === i) parts.push(tag.label + sayState(tag));
  for (const span of items.spans) {
    if (span.start <= i && i < span.end) parts.push(`in ${saySpan(span, tokens)}`);
  }
  for (const arc of items.tree) {
    if (arc.dep !== i) continue;
    const head = arc.head ? `of ${tokens[arc.head - 1]}` : "of the sentence";
    parts.push(`${arc.label || "no label"} ${head}${sayState(arc)}`);
  }
  return parts.join("; ");
}

function sayState({ state, confidence, differs }) {
  const guess = confidence === null ? ", suggestion" : `, suggestion, ${shortNumber(confidence)}`;
  return (state === "suggested" ? guess : "") + (differs ? ", differs" : "");
}
