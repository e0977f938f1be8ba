// Changes to answers about words and the whole sentence: tags, classes and trees.

export const wordChanges = {
  /** One label for all words of [start, end); null takes the labels away. */
  "tags.paint"(doc, { task, start, end, label }) {
    const tags = doc.values[task].map((old, i) => (i >= start && i < end ? label : old));
    return withValue(doc, task, tags);
  },

  "class.choose"(doc, { task, label }) {
    return withValue(doc, task, label);
  },

  /** Hang word dep (from 0) on head (0 = root, else from 1). */
  "tree.attach"(doc, { task, dep, head, label }) {
    return withValue(doc, task, doc.values[task].with(dep, [head, label]));
  },
};

/** The document with another value for one task. */
export function withValue(doc, task, value) {
  return { ...doc, values: { ...doc.values, [task]: value } };
}
