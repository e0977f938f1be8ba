// Which key does what: commands and labels share one keyboard, and a key means one thing.

/** Commands on printable keys. `needs`: the kind of task without which the key is free. */
export const COMMANDS = [
  { id: "accept", key: "a", words: "accept" },
  { id: "reject", key: "x", words: "reject" },
  { id: "acceptAll", key: "A", words: "accept all of the task" },
  { id: "rejectAll", key: "X", words: "reject all of the task" },
  { id: "markHead", key: "h", words: "mark head; twice: root" },
  { id: "relate", key: "r", words: "relation from this span", needs: "relations" },
  { id: "reverse", key: "R", words: "reverse a relation", needs: "relations" },
  { id: "flag", key: "f", words: "flag the sentence" },
  { id: "guidelines", key: "g", words: "guidelines" },
  { id: "nextSuggestion", key: ".", words: "next suggestion" },
  { id: "previousSuggestion", key: ",", words: "previous suggestion" },
  { id: "help", key: "?", words: "these keys" },
];

const DIGITS = [..."1234567890"];
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];

/** Keys of a project: {commands: Map key -> id, labels: Map key -> {task, label}, keyOf(task,
 *  label)}. custom: {commands: {id: key}, labels: {task: {label: key}}}, one person's own choice.
 *  Own choices come first, then the project's keys, then the first free letter or digit. */
export function allocateKeys(tasks, custom = {}) {
  const commands = allocateCommands(tasks, custom.commands ?? {});
  const labels = new Map();
  const isFree = (key) => key && !commands.has(key) && !labels.has(key);
  const all = tasks.flatMap((task) => task.labels.map((label) => ({ task, label })));
  const given = new Set();
  const give = (entry, key) => {
    if (given.has(entry) || !isFree(key)) return;
    labels.set(key, { task: entry.task.name, label: entry.label.name });
    given.add(entry);
  };
  for (const entry of all) give(entry, custom.labels?.[entry.task.name]?.[entry.label.name]);
  for (const entry of all)
    if (fitsKind(entry.task.kind, entry.label.key)) give(entry, entry.label.key);
  for (const entry of all) {
    give(entry, candidates(entry.task.kind, entry.label.name).find(isFree));
  }
  const keys = new Map([...labels].map(([key, { task, label }]) => [`${task}\n${label}`, key]));
  return { commands, labels, keyOf: (task, label) => keys.get(`${task}\n${label}`) ?? "" };
}

function allocateCommands(tasks, custom) {
  const isNeeded = ({ needs }) => !needs || tasks.some(({ kind }) => kind === needs);
  const wanted = COMMANDS.filter(isNeeded);
  const keys = new Map();
  for (const { id } of wanted) if (custom[id] && !keys.has(custom[id])) keys.set(custom[id], id);
  for (const { id, key } of wanted) {
    if (![...keys.values()].includes(id) && !keys.has(key)) keys.set(key, id);
  }
  return keys;
}

/** Keys that a label may get by itself, the best first; tree labels get none. */
function candidates(kind, name) {
  if (kind === "classes") return DIGITS;
  const letters = [...lettersOf(name), ...LETTERS];
  if (kind === "spans" || kind === "tags") return letters;
  return kind === "relations" ? letters.map((letter) => letter.toUpperCase()) : [];
}

function lettersOf(name) {
  const plain = name.normalize("NFKD").toLowerCase();
  return [...plain].filter((character) => LETTERS.includes(character));
}

function fitsKind(kind, key) {
  return Boolean(key) && candidates(kind, "").includes(key);
}

/** Printable key of a keyboard event: its letter by Shift alone, so that Caps Lock changes nothing,
 *  and by its place where the layout has no Latin letters. */
export function printableKey({ key, code, shiftKey }) {
  if (key.length !== 1 && [...key].length !== 1) return "";
  const letter = /^[a-z]$/i.test(key) ? key : /^Key([A-Z])$/.exec(code)?.[1];
  if (letter) return shiftKey ? letter.toUpperCase() : letter.toLowerCase();
  const isOtherDigit = !/^[!-~]$/.test(key) || /^["&'(_)-]$/.test(key);
  return isOtherDigit && !shiftKey ? (/^Digit(\d)$/.exec(code)?.[1] ?? key) : key;
}

/** How a key is written on its cap. */
export function capText(key) {
  if (/^[A-Z]$/.test(key)) return `⇧${key}`;
  return key;
}

/** The cap of a command's key, or "" where it has none. */
export function commandCap({ commands }, id) {
  for (const [key, command] of commands) if (command === id) return capText(key);
  return "";
}
