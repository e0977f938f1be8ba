// Type-ahead: a small list of labels beside the word, filtered by what is typed.
import { element, put } from "../dom.js";

/** Labels that fit what is typed: those that start with it, then words inside, then anything. */
export function matchLabels(labels, typed, first = "") {
  const wanted = typed.trim().toLowerCase();
  const rank = (label) => {
    const name = label.toLowerCase();
    if (name === wanted) return 0;
    if (name.startsWith(wanted)) return 1;
    if (name.split(/[\s:_-]/).some((part) => part.startsWith(wanted))) return 2;
    return name.includes(wanted) ? 3 : 4;
  };
  const order = labels.filter((label) => rank(label) < 4);
  if (!wanted) return first ? [first, ...order.filter((label) => label !== first)] : order;
  return order.sort((a, b) => rank(a) - rank(b));
}

export class Chooser {
  /** Ask for a label beside an element; resolves to the label, or to null when left by Escape. */
  ask({ labels, isOpen = false, first = "", title }, anchor) {
    this.close();
    return new Promise((resolve) => {
      this.question = { labels, isOpen, first, resolve };
      this.#build(title);
      document.body.append(this.box);
      this.#filter();
      this.#place(anchor);
      this.input.focus();
    });
  }

  get isAsking() {
    return Boolean(this.question);
  }

  close(answer = null) {
    if (!this.question) return;
    const { resolve } = this.question;
    this.question = null;
    this.box.remove();
    resolve(answer);
  }

  #build(title) {
    this.input = element("input", {
      type: "text",
      role: "combobox",
      "aria-label": title,
      "aria-expanded": "true",
      "aria-controls": "chooser-options",
      "aria-autocomplete": "list",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.list = element("ul", { id: "chooser-options", role: "listbox", "aria-label": title });
    this.box = element("div", { class: "chooser" }, this.input, this.list);
    this.input.addEventListener("input", () => this.#filter());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.box.addEventListener("focusout", (event) => {
      if (!this.box.contains(event.relatedTarget)) this.close();
    });
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.close(option.dataset.label);
    });
  }

  #filter() {
    const typed = this.input.value;
    const { labels, isOpen, first } = this.question;
    const matches = matchLabels(labels, typed, first);
    const isNew = isOpen && typed.trim() && !labels.includes(typed.trim());
    const options = matches.map((label) => optionNode(label, label));
    if (isNew) options.push(optionNode(typed.trim(), `New label ‘${typed.trim()}’`));
    if (!options.length) options.push(element("li", { class: "none" }, "No such label"));
    this.list.replaceChildren(...options);
    this.#highlight(0);
  }

  #highlight(at) {
    const options = [...this.list.querySelectorAll("[role=option]")];
    this.at = options.length ? (at + options.length) % options.length : 0;
    options.forEach((option, i) => {
      option.id = `chooser-option-${i}`;
      option.setAttribute("aria-selected", String(i === this.at));
    });
    options[this.at]?.scrollIntoView({ block: "nearest" });
    put(this.input, "aria-activedescendant", options[this.at]?.id ?? null);
  }

  #key(event) {
    event.stopPropagation();
    const act = {
      ArrowDown: () => this.#highlight(this.at + 1),
      ArrowUp: () => this.#highlight(this.at - 1),
      Escape: () => this.close(),
      Enter: () => this.#pick(),
      Tab: () => this.#pick(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  #pick() {
    const option = this.list.querySelector("[aria-selected=true]");
    if (option) this.close(option.dataset.label);
  }

  #place(anchor) {
    const at = anchor.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const x = Math.max(8, Math.min(at.left, innerWidth - width - 8));
    const isBelow = at.bottom + 6 + height < innerHeight;
    const y = isBelow ? at.bottom + 6 : Math.max(8, at.top - height - 6);
    this.box.style.left = `${x}px`;
    this.box.style.top = `${y}px`;
  }
}

function optionNode(label, text) {
  return element("li", { role: "option", "data-label": label }, text);
}
