// Which key does what. Commands mean the same whatever task is open; letters and digits belong to
// the labels of the open task, and digits that it does not use to the first choice of a class.
import { kindOf } from "../kinds/index.js";
import { t } from "../words.js";

/** Commands on printable keys, whatever is asked; kinds of tasks add their own. */
const COMMANDS = [
  { id: "accept", key: "a", words: t("accept") },
  { id: "reject", key: "x", words: t("reject") },
  { id: "acceptAll", key: "A", words: t("accept all of the task") },
  { id: "rejectAll", key: "X", words: t("reject all of the task") },
  { id: "find", key: "/", words: t("find a label") },
  { id: "flag", key: "f", words: t("flag the sentence") },
  { id: "guidelines", key: "g", words: t("guidelines") },
  { id: "nextSuggestion", key: ".", words: t("next suggestion") },
  { id: "previousSuggestion", key: ",", words: t("previous suggestion") },
  { id: "help", key: "?", words: t("these keys") },
];

const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];
const DIGIT = /^[0-9]$/;
export const LIST_KEY = "0"; // opens the list of all classes

/** All commands on printable keys for some tasks: [{id, key, words, run, isLocal}]. A local one
 *  belongs to the tasks of its kind while they are open. */
export function commandsFor(tasks) {
  const all = [...COMMANDS, ...tasks.flatMap((task) => kindOf(task).commands)];
  return [...new Map(all.map((command) => [command.id, command])).values()]; // kinds share some
}

/** The keys of some tasks. custom: {commands: {id: key}, labels: {task: {label: key}}}, one person's
 *  own choice; it comes first, then the project's keys, then the first free letter or digit. */
export function allocateKeys(tasks, custom = {}) {
  const all = commandsFor(tasks);
  const commands = giveCommands(
    all.filter(({ isLocal }) => !isLocal),
    custom.commands ?? {},
    new Map(),
  );
  const byTask = new Map(tasks.map((task) => [task.name, keysOf(task, commands, custom)]));
  const chosen = tasks.find((task) => kindOf(task).takesDigits);
  return {
    /** The key of a command, or "". */
    commandKey(id) {
      const maps = [commands, ...[...byTask.values()].map((keys) => keys.commands)];
      return maps.map((keys) => keyFor(keys, id)).find(Boolean) ?? "";
    },

    /** The key of a label while its task is open, or "". */
    keyOf: (task, label) => keyFor(byTask.get(task).labels, label),

    /** The task whose classes have the digits while another task is open, or null. */
    digitsTask: (active) => (byTask.get(active)?.usesDigits ? null : (chosen ?? null)),

    /** What a key does while a task is open: {command} or {task, label}, or {typed} where it begins
     *  the name of a label that has no key; else null. */
    find(key, active) {
      const own = byTask.get(active);
      const command = commands.get(key) ?? own?.commands.get(key);
      if (command) return { command };
      if (own?.labels.has(key)) return { task: active, label: own.labels.get(key) };
      const other = DIGIT.test(key) ? this.digitsTask(active) : null;
      if (other) {
        if (key === LIST_KEY) return { command: "listClasses" };
        const label = byTask.get(other.name).labels.get(key);
        return label ? { task: other.name, label } : null;
      }
      return own?.hasMore && /^\p{L}$/u.test(key) ? { typed: key } : null;
    },
  };
}

/** Keys of one task: {commands: Map key -> id, labels: Map key -> label, usesDigits, hasMore}. */
function keysOf(task, taken, custom) {
  const kind = kindOf(task);
  const local = kind.commands.filter(({ isLocal }) => isLocal);
  const commands = giveCommands(local, custom.commands ?? {}, taken);
  const labels = new Map();
  const given = new Set();
  const isFree = (key) => key && !taken.has(key) && !commands.has(key) && !labels.has(key);
  const give = (name, key) => {
    if (given.has(name) || !isFree(key)) return;
    labels.set(key, name);
    given.add(name);
  };
  for (const { name } of task.labels) give(name, custom.labels?.[task.name]?.[name]);
  for (const { name, key } of task.labels) if (kind.keys("").includes(key)) give(name, key);
  for (const { name } of task.labels) give(name, kind.keys(name).find(isFree));
  const usesDigits = kind.usesDigits || kind.takesDigits;
  return { commands, labels, usesDigits, hasMore: kind.isText || given.size < task.labels.length };
}

function giveCommands(wanted, custom, taken) {
  const keys = new Map();
  const isFree = (key) => key && !keys.has(key) && !taken.has(key);
  for (const { id } of wanted) if (isFree(custom[id])) keys.set(custom[id], id);
  for (const { id, key } of wanted) {
    if (!keyFor(keys, id) && isFree(key)) keys.set(key, id);
  }
  return keys;
}

function keyFor(keys, wanted) {
  for (const [key, meaning] of keys) if (meaning === wanted) return key;
  return "";
}

/** Letters for a label: those of its name first, then all others. */
export function letterKeys(name) {
  const plain = name.normalize("NFKD").toLowerCase();
  const own = [...plain].filter((character) => LETTERS.includes(character));
  return [...own, ...LETTERS];
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
export function commandCap(keys, id) {
  return capText(keys.commandKey(id));
}
