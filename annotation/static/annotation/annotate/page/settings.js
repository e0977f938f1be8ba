// One person's own keys for a project, kept in this browser.

export class OwnKeys {
  constructor(storage, owner) {
    this.storage = storage;
    this.key = `tandem/keys/${owner}`;
  }

  /** {commands: {id: key}, labels: {task: {label: key}}, usesLetters}. */
  get choice() {
    const text = this.storage.getItem(this.key);
    return text === null ? {} : JSON.parse(text);
  }

  set choice(value) {
    this.storage.setItem(this.key, JSON.stringify(value));
  }

  get usesLetters() {
    return this.choice.usesLetters !== false;
  }

  /** What the sheet of keys shows and changes; useKeys() allocates the keys anew. */
  settings(useKeys) {
    return {
      custom: this.choice,
      usesLetters: this.usesLetters,
      save: (custom) => {
        this.choice = custom;
        return useKeys();
      },
      useLetters: (isOn) => (this.choice = { ...this.choice, usesLetters: isOn }),
    };
  }
}
