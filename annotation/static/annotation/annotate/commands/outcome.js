// What a command asks for: {action, ui, say, warn, choose}. All parts may be missing.
//   action  a change of the document, journalled and undoable
//   ui      parts of the hands' state that change
//   say     words for the screen reader
//   warn    words for the eye as well: why nothing happened
//   choose  a question for the type-ahead: {purpose, task, labels, ...}

/** Nothing changes; say why. */
export function refuse(warn) {
  return { warn };
}
