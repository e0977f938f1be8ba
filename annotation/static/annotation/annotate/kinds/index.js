// The kinds of tasks. Each is one file beside this one that registers an object with all that is
// special about it; everything else asks kindOf(task). The page loads one script for each kind that
// the server knows, so that a new kind is a new file and no list grows.
//
//   name, noun      of the kind, and of one item of it: "spans", "span"
//   layer           where <tandem-sentence> draws its items, and with which fields:
//                   "chips" {at, label}, "rails" {start, end, label}, "arcs" {dep, head, label},
//                   "links" {ends, label}, "badges" {label}
//
// The answer (shapes.js has what several kinds share)
//   blank(m)        of m words that nobody has touched
//   items(value)    [{key, value, at}]; the key is what makes an item the same item
//   keyOf(item)     the key of {value, at}; labelOf(value) the label of an item's value
//   labelsIn(value) the task's labels in an item's value, as a rule that one
//   isText          whether answers are texts that people write, and no labels
//   unit(item)      an item as the server names it; units(value) of a whole answer
//   isOneOf, group(unit, i), compose(units), title(unit, tokens), unitText(unit, tokens)
//                   adjudication: units of a group exclude each other; isOneOf: one must be chosen
//   check(task, value, {doc, context, tokens})
//                   {own, open, problems: [{message, at}], hints}: open answers stand in the way
//   progress(standing)  the same in a few words: [text or {look, text}]
//
// Suggestions and changes
//   detail(details, item, suggestion)  what the model says of an item: {confidence, others}
//   fate(item, task, doc, context)     "accepted", "edited", "rejected" or "pending"
//   changes         {kind of action: (doc, action, context) => doc}
//   accept(doc, task, item, context), remove(doc, task, removal, context)  => doc
//   removal({value, at})               what names an item that is taken away
//   take(item, value)                  the action that takes another of the model's options
//
// Commands: (state, ...) => outcome, see commands/labels.js
//   apply(state, task, label)          what a label does here
//   options(state, task)               names that the type-ahead offers
//   here(state, task)                  names that buttons offer for the word under the cursor, hereText(name) their words
//   usesLabel(state)                   whether a click on a label means this very place
//   paints                             whether an armed label is used by every drag over words
//   choose(state, question, label)     a label asked for by type-ahead
//   confirm(state), modeText(mode, tokens, isFinger), modeAction(state), modeMarks(mode)
//                                      a mode of its own, if it has one, and what Enter does in it
//   resize(state, item, edge, by), clickWord(state, word), clickItem(state, item),
//   link(state, from, to)              null where the kind has nothing to say; drag: "words", "link"
//   commands        [{id, key, words, run, isLocal, button}]: keys of its own, local ones only while
//                   open; with the words of a button, one stands beside the labels
//   keys(label)     keys that a label may get by itself, the best first
//   takesDigits     whether digits mean its labels also while another task is open
//   usesDigits      whether digits mean something else while it is open
//   holds(value, label, state)  whether a label button shows as pressed: the answer has it
//   brief(check)    its progress in fewer words, for a task that is not open
//   offer(state)    what Enter does here at once: {words, run}, or null
//   propose(state, task)  what is shown under the sentence while it is open, see page/proposals.js
//   wordMarks(state, task)  the words that wait for an answer while it is open
//   known(state, task)      words that earlier answers label: [[start, end, [[label, n]]]]
//   tools           [{words, run(state, item), cap or command with a key}]: buttons beside a
//                   selected own item
//
// Words and looks
//   draw(item, task), tie(items, tasks, values)  fields of the layer; ties to other drawn items
//   say(item, tokens, items)           to a screen reader; sayOn(item, tokens): as part of its word
//   describe(item, tokens)             {from, to, label} in the detail panel
//   about(items, task, word, tokens)   what is said of a word, [[title, [item]]], where it is more
//                                      than the items that lie on it
//   optionText(value, item, tokens)    one of the model's options
//   labels          look of its label buttons: {isRadio, look, isColoured}
//   labelAt         "item" or "word": beside what the type-ahead opens
//   isWhole         whether an item is about the sentence and not about words
//   isAnchor        whether items of other tasks hang on its items; such tasks' kinds have
//   keepEnds(value, stands, task, parent), moveEnds(value, from, to, task, parent)
//                   their answer without what hangs on items that are gone, or that took other words
//   filterText      the words of the switch that hides its layer, if it has one

const KINDS = new Map(); // name -> kind

const DEFAULTS = {
  isText: false,
  options: (_, task) => task.labels.map(({ name }) => name),
  here: null,
  hereText: (name) => name,
  changes: {},
  commands: [],
  tools: [],
  keys: () => [],
  takesDigits: false,
  usesDigits: false,
  offer: () => null,
  propose: () => null,
  wordMarks: () => new Set(),
  known: () => [],
  paints: false,
  usesLabel: () => false,
  holds: () => false,
  drag: "words",
  clickWord: () => null,
  clickItem: () => null,
  link: () => null,
  resize: null,
  choose: null,
  tie: (items) => items,
  about: null,
  labelAt: "item",
  isWhole: false,
  isAnchor: false,
  filterText: "",
};

/** Make a kind known under its name. */
export function register(kind) {
  const labelsIn = (value) => [kind.labelOf(value)];
  KINDS.set(kind.name, Object.freeze({ ...DEFAULTS, labelsIn, brief: kind.progress, ...kind }));
}

/** The kind of a task, or of an item of one. */
export function kindOf({ kind: name }) {
  const kind = KINDS.get(name);
  if (!kind) {
    const known = [...KINDS.keys()].join(", ");
    throw new Error(`No task kind '${name}'. Known: ${known}. Is its script on the page?`);
  }
  return kind;
}

/** All kinds on the page. */
export function allKinds() {
  return [...KINDS.values()];
}
