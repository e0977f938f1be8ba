// The outbox: answers, skips and flags wait here until the server has said that it has them.

export class Outbox {
  #unkept = []; // parcels for which the browser has no room

  /** onFull is called when a parcel is kept only as long as this page is open. */
  constructor(storage, owner, onFull) {
    this.storage = storage;
    this.name = `tandem/parcels/${owner}`;
    this.onFull = onFull;
  }

  /** The waiting parcels, [{kind, key, ...}]. */
  get waiting() {
    return [...this.#kept, ...this.#unkept];
  }

  put(parcel) {
    try {
      this.#keep([...this.#kept.filter(otherThan(parcel)), parcel]);
    } catch (error) {
      if (error.name !== "QuotaExceededError") throw error;
      this.#unkept.push(parcel);
      this.onFull();
    }
  }

  remove(parcel) {
    this.#unkept = this.#unkept.filter(otherThan(parcel));
    this.#keep(this.#kept.filter(otherThan(parcel)));
  }

  get #kept() {
    return JSON.parse(this.storage.getItem(this.name)) ?? [];
  }

  #keep(parcels) {
    if (parcels.length) this.storage.setItem(this.name, JSON.stringify(parcels));
    else this.storage.removeItem(this.name);
  }
}

function otherThan({ key }) {
  return (parcel) => parcel.key !== key;
}
