// What the browser keeps: a journal of every action, and what the server has not confirmed yet.

const DAYS_KEPT = 30;

/** Every action is written here before it is shown as done, one record each, so that a crash loses
 *  nothing and a reload replays all. */
export class Journal {
  /** storage: localStorage or anything like it; owner: whose journal, such as "ada/12"; onFull is
   *  called when the browser has no room left, and from then on only the server keeps the work. */
  constructor(storage, owner, onFull) {
    this.storage = storage;
    this.onFull = onFull;
    this.prefix = `tandem/journal/${owner}/`;
    this.#forgetOld();
  }

  /** The journal of an ask: {doc, known, seconds, records: [{at, action}]}, or null. known is the
   *  version of the draft that the server had when this journal last agreed with it. */
  read(ask) {
    const head = this.#get(`${ask}`);
    if (!head) return null;
    const records = [];
    for (let n = 0; ; n++) {
      const record = this.#get(`${ask}/${n}`);
      if (!record) return { ...head, records };
      records.push(record);
    }
  }

  /** Start a journal from a document; what was there is replaced. words: of the sentence, as one text. */
  start(ask, { doc, known, seconds, words }) {
    this.drop(ask);
    this.#set(`${ask}`, { doc, known, seconds, words, begun: Date.now() });
  }

  /** Write one action; n is its number in the journal. */
  append(ask, n, record) {
    this.#set(`${ask}/${n}`, record);
  }

  /** Note what the server knows, and the seconds spent. */
  note(ask, known, seconds) {
    const head = this.#get(`${ask}`);
    if (head) this.#set(`${ask}`, { ...head, known, seconds });
  }

  drop(ask) {
    const mine = this.#keys().filter((key) => key === `${ask}` || key.startsWith(`${ask}/`));
    for (const key of mine) this.storage.removeItem(this.prefix + key);
  }

  #keys() {
    return Object.keys(this.storage)
      .filter((key) => key.startsWith(this.prefix))
      .map((key) => key.slice(this.prefix.length));
  }

  #forgetOld() {
    const oldest = Date.now() - DAYS_KEPT * 24 * 3600 * 1000;
    for (const key of this.#keys()) {
      if (!key.includes("/") && this.#get(key).begun < oldest) this.drop(key);
    }
  }

  #get(key) {
    const text = this.storage.getItem(this.prefix + key);
    return text === null ? null : JSON.parse(text);
  }

  #set(key, value) {
    try {
      this.storage.setItem(this.prefix + key, JSON.stringify(value));
    } catch (error) {
      if (error.name !== "QuotaExceededError") throw error;
      this.onFull();
    }
  }
}

/** Answers, skips and flags wait here until the server has said that it has them. */
export class Outbox {
  #unkept = []; // requests for which the browser has no room

  /** onFull is called when a request is kept only as long as this page is open. */
  constructor(storage, owner, onFull) {
    this.storage = storage;
    this.name = `tandem/parcels/${owner}`;
    this.onFull = onFull;
  }

  /** The waiting requests, [{kind, key, ...}]. */
  get waiting() {
    return [...this.#kept, ...this.#unkept];
  }

  put(request) {
    try {
      this.#keep([...this.#kept.filter(otherThan(request)), request]);
    } catch (error) {
      if (error.name !== "QuotaExceededError") throw error;
      this.#unkept.push(request);
      this.onFull();
    }
  }

  remove(request) {
    this.#unkept = this.#unkept.filter(otherThan(request));
    this.#keep(this.#kept.filter(otherThan(request)));
  }

  get #kept() {
    return JSON.parse(this.storage.getItem(this.name)) ?? [];
  }

  #keep(requests) {
    if (requests.length) this.storage.setItem(this.name, JSON.stringify(requests));
    else this.storage.removeItem(this.name);
  }
}

function otherThan({ key }) {
  return (request) => request.key !== key;
}

/** Small things of the page that stay as they were from visit to visit. */
export class PageMemory {
  constructor(storage, owner) {
    this.storage = storage;
    this.key = `tandem/page/${owner}`;
  }

  get(name) {
    return this.#all[name] ?? null;
  }

  /** Remember something, where the browser has room for it. */
  set(name, value) {
    try {
      this.storage.setItem(this.key, JSON.stringify({ ...this.#all, [name]: value }));
    } catch (error) {
      if (error.name !== "QuotaExceededError") throw error;
    }
  }

  get #all() {
    return JSON.parse(this.storage.getItem(this.key)) ?? {};
  }
}

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
