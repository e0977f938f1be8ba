// Which things belong to a word or to a thing, so that they can step forward.

/** Ids of all that hangs on a word, or of one thing and, for a span, its relations. */
export function nearItems(items, { word = null, id = null }) {
  const near = new Set();
  if (id !== null) addItem(near, items, id);
  if (word !== null) {
    for (const tag of items.tags) if (tag.at === word) near.add(tag.id);
    for (const arc of [...items.tree, ...items.treeBelow]) {
      if (arc.dep === word || arc.head - 1 === word) near.add(arc.id);
    }
    for (const span of items.spans) {
      if (span.start <= word && word < span.end) addItem(near, items, span.id);
    }
  }
  return near;
}

function addItem(near, items, id) {
  near.add(id);
  for (const link of items.relations) if (link.from === id || link.to === id) near.add(link.id);
}
