// The outbox: a finished answer waits here until the server has said that it is stored.

export class Outbox {
  constructor(storage, owner) {
    this.storage = storage;
    this.key = `tandem/outbox/${owner}`;
  }

  /** The waiting answer, {lease, ask, key, body}, or null. */
  get waiting() {
    const text = this.storage.getItem(this.key);
    return text === null ? null : JSON.parse(text);
  }

  put(parcel) {
    this.storage.setItem(this.key, JSON.stringify(parcel));
  }

  clear() {
    this.storage.removeItem(this.key);
  }
}
