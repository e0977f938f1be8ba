// Where the journal is kept: the browser's storage, or memory where the browser refuses one.

/** localStorage, or a stand-in for this page's life; isLasting tells which. */
export function openStorage() {
  try {
    localStorage.setItem("tandem/probe", "");
    localStorage.removeItem("tandem/probe");
    return { storage: localStorage, isLasting: true };
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return { storage: memoryStorage(), isLasting: false };
  }
}

function memoryStorage() {
  const kept = {};
  const methods = {
    getItem: (key) => kept[key] ?? null,
    setItem: (key, value) => void (kept[key] = value),
    removeItem: (key) => void delete kept[key],
  };
  return new Proxy(kept, { get: (target, name) => methods[name] ?? target[name] });
}
