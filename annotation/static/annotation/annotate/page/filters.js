// Switches for the layers of a sentence: tree, relations, suggestions.
import { element } from "../dom.js";

const LAYERS = [
  { id: "tree", words: "Syntax", kind: "tree" },
  { id: "relations", words: "Relations", kind: "relations" },
  { id: "suggestions", words: "Suggestions", kind: null },
];

export class Filters {
  /** Boxes for the layers that a project has; onChange is called after a click. */
  constructor(root, project, onChange) {
    this.hidden = new Set();
    const boxes = LAYERS.flatMap(({ id, words, kind }) => {
      const tasks = project.tasks.filter((task) => task.kind === kind);
      if (kind && !tasks.length) return [];
      return [this.#box(id, tasks.length === 1 ? tasks[0].name : words, onChange)];
    });
    root.replaceChildren(...boxes);
  }

  /** Things to draw, without the layers that are switched off. */
  apply(items) {
    const isShown = (item) => !(this.hidden.has("suggestions") && item.state === "suggested");
    const left = Object.fromEntries(
      Object.entries(items).map(([kind, list]) => [kind, list.filter(isShown)]),
    );
    if (this.hidden.has("tree")) left.tree = [];
    if (this.hidden.has("relations")) left.relations = [];
    const spans = new Set(left.spans.map(({ id }) => id));
    left.relations = left.relations.filter(({ from, to }) => spans.has(from) && spans.has(to));
    return left;
  }

  get key() {
    return [...this.hidden].join();
  }

  #box(id, words, onChange) {
    const input = element("input", { type: "checkbox", checked: true });
    input.addEventListener("change", () => {
      this.hidden[input.checked ? "delete" : "add"](id);
      onChange();
    });
    return element("label", { class: "check" }, input, words);
  }
}
