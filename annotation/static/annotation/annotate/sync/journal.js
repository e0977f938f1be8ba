// The journal: every action is written here, in the browser, before it is shown as done.
// One record for each action, so that a crash loses nothing and a reload replays all.

const DAYS_KEPT = 30;

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

  /** Start a journal from a document; what was there is replaced. */
  start(ask, { doc, known, seconds }) {
    this.drop(ask);
    this.#set(`${ask}`, { doc, known, seconds, begun: Date.now() });
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
