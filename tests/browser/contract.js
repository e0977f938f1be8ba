// What every kind of task must do, whatever it is: returns the broken promises, none if all is well.
// sample: {task, tasks, tokens, answer, other, label}; answer and other are two whole answers.
export async function brokenPromises({ kind: name, tasks, tokens, answers, other, label }) {
  const broken = [];
  const promise = (isKept, words) => isKept || broken.push(words);
  const { kindOf } = await import("/annotation/annotate/kinds/index.js");
  const state = await import("/annotation/annotate/model/state.js");
  const items = await import("/annotation/annotate/model/items.js");
  const { tallySuggestions } = await import("/annotation/annotate/model/suggestions.js");
  const { applyLabel, askLabel } = await import("/annotation/annotate/commands/labels.js");
  const decisions = await import("/annotation/annotate/commands/decisions.js");
  const { goToSuggestion } = await import("/annotation/annotate/commands/navigation.js");

  const task = tasks.find((each) => each.kind === name);
  const kind = kindOf(task);
  const answer = answers[task.name];
  const text = (value) => JSON.stringify(value);

  for (const [member, type] of Object.entries(MEMBERS)) {
    promise(typeof kind[member] === type, `${member} is a ${type}`);
  }
  promise(kind.layer in items.noItems(), `'${kind.layer}' is a layer`);

  // The answer and its items
  const blank = kind.blank(tokens.length);
  promise(kind.items(blank).length === 0, "a blank answer has no items");
  const parts = kind.items(answer);
  promise(parts.length > 0, "an answer has items");
  promise(new Set(parts.map(({ key }) => key)).size === parts.length, "keys are distinct");
  promise(
    parts.every((item) => kind.keyOf(item) === item.key),
    "keyOf names an item by its key",
  );
  const units = parts.map(kind.unit);
  promise(text(kind.compose([...units].reverse())) !== undefined, "units in any order compose");
  promise(text(kind.compose(units)) === text(answer), "the units of an answer compose it");
  promise(
    units.every((unit, i) => kind.group(unit, i) && kind.title(unit, tokens)),
    "units have a group and a title",
  );
  promise(
    units.every((unit) => kind.unitText(unit, tokens)),
    "units have words",
  );

  // Suggestions: shown, accepted, rejected, taken one by one
  const suggestions = Object.fromEntries(
    tasks.map((each) => [each.name, { value: answers[each.name], confidence: 0.7, details: {} }]),
  );
  const open = (given) =>
    freeze(
      state.openState(
        { tasks, language: "en" },
        {
          ask: { id: 1, tasks: tasks.map((each) => each.name) },
          sentence: { tokens },
          answers: {},
          ...given,
        },
      ),
    );
  const run = (from, { action, ui, choose }) => {
    const next = action ? state.act(from, action) : from;
    promise(action || ui || choose, "a command asks for something");
    return freeze({ ...next, ui: { ...next.ui, ...ui } });
  };
  const value = (from) => state.documentOf(from).values[task.name];
  const fresh = open({ suggestions });
  const active = { ...fresh, ui: { ...fresh.ui, task: task.name } };
  const pending = (from) => state.checkTask(from, task).toCheck;
  promise(pending(active) === parts.length, "all items of a suggestion wait");
  promise(text(value(active)) === text(blank), "nothing counts before it is accepted");

  const accepted = run(active, decisions.acceptAll(active));
  promise(text(value(accepted)) === text(answer), "accepting all gives the suggested answer");
  promise(pending(accepted) === 0, "nothing waits after that");
  promise(state.checkTask(accepted, task).problems.length === 0, "a whole answer has no problem");
  const tally = (from) => tallySuggestions(state.documentOf(from), from.context)[task.name];
  promise(tally(accepted).accepted === parts.length, "accepted items are counted");

  const rejected = run(active, decisions.rejectAll(active));
  promise(text(value(rejected)) === text(blank), "rejecting all leaves the answer blank");
  promise(pending(rejected) === 0 && tally(rejected).rejected === parts.length, "and is counted");

  let oneByOne = active;
  for (let n = 0; n < parts.length; n++) {
    oneByOne = run(oneByOne, goToSuggestion(oneByOne, 1));
    while (state.findItem(oneByOne, oneByOne.ui.selected)?.task !== task.name) {
      oneByOne = run(oneByOne, goToSuggestion(oneByOne, 1));
    }
    oneByOne = run(oneByOne, decisions.accept(oneByOne));
  }
  promise(text(value(oneByOne)) === text(answer), "items are accepted one by one");

  // Drawing and words
  const drawn = state.itemsIn(accepted)[kind.layer].filter((item) => item.task === task.name);
  promise(drawn.length === parts.length, "every item is drawn");
  promise(new Set(drawn.map(({ id }) => id)).size === drawn.length, "under an id of its own");
  for (const item of drawn) {
    for (const field of FIELDS[kind.layer]) {
      promise(item[field] !== undefined, `drawn items on ${kind.layer} have ${field}`);
    }
    const all = state.itemsIn(accepted);
    promise(kind.say(item, tokens, all).includes(item.label), "items are said with their label");
    promise(kind.describe(item, tokens).from, "items are described");
    promise(kind.optionText(item.value, item, tokens), "options have words");
    promise(
      (items.wordsOf(item) === null) === kind.isWhole,
      "items are on words or about the sentence",
    );
  }
  for (const from of [active, accepted, rejected]) {
    const words = kind.progress(state.checkTask(from, task));
    promise(words.length && words.every((part) => part.text || part), "progress has words");
  }

  // Changes: taken away, undone, relabelled
  for (const item of drawn) {
    const selected = { ...accepted, ui: { ...accepted.ui, selected: item.id } };
    const shorter = run(selected, decisions.deleteHere(selected));
    promise(kind.items(value(shorter)).length === parts.length - 1, "an item can be deleted");
    promise(
      text(value(state.act(shorter, { kind: "undo" }))) === text(answer),
      "deleting is undone",
    );
    const relabelled = run(selected, applyLabel(selected, task.name, label));
    const same = kind.items(value(relabelled)).length;
    promise(same === parts.length, "a label changes the selected item and adds none");
  }
  const suggested = state.itemsIn(active)[kind.layer].find((item) => item.task === task.name);
  const option = kind.items(other)[0].value;
  const taken = run(active, decisions.takeOption(active, suggested, option));
  promise(text(value(taken)).includes(text(option)), "another option of the model is taken");
  promise(askLabel(active).choose.labels.includes(label), "labels are found by type-ahead");

  // Differences, for adjudication
  const values = { ...answers, [task.name]: other };
  const against = items.drawAgainst(tasks, answers, values);
  promise(
    against[kind.layer].some((item) => item.task === task.name && item.differs),
    "what differs is marked",
  );
  const keys = kind.keys(label);
  promise(
    keys.every((key) => [...key].length === 1),
    "keys are single characters",
  );
  return broken;
}

const FIELDS = {
  chips: ["at", "row", "label"],
  rails: ["start", "end", "label"],
  arcs: ["dep", "head", "label"],
  links: ["from", "to", "label"],
  badges: ["label"],
};

const MEMBERS = {
  name: "string",
  noun: "string",
  layer: "string",
  blank: "function",
  items: "function",
  keyOf: "function",
  unit: "function",
  isOneOf: "boolean",
  group: "function",
  compose: "function",
  title: "function",
  unitText: "function",
  check: "function",
  progress: "function",
  detail: "function",
  fate: "function",
  changes: "object",
  accept: "function",
  remove: "function",
  removal: "function",
  take: "function",
  apply: "function",
  usesLabel: "function",
  holds: "function",
  paints: "boolean",
  drag: "string",
  clickWord: "function",
  clickItem: "function",
  link: "function",
  commands: "object",
  keys: "function",
  takesDigits: "boolean",
  usesDigits: "boolean",
  brief: "function",
  labelOf: "function",
  tools: "object",
  draw: "function",
  tie: "function",
  say: "function",
  describe: "function",
  optionText: "function",
  labels: "object",
  labelAt: "string",
  isWhole: "boolean",
  filterText: "string",
};

/** The same value, in which nothing can be changed any more. */
function freeze(value) {
  if (value && typeof value === "object" && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}
