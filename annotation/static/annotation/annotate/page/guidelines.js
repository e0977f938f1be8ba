// Guidelines beside the sentence: the active task's first, then the project's.
import { element } from "../dom.js";
import { taskOf } from "../model/state.js";

export class Guidelines {
  constructor(root, project) {
    this.root = root;
    this.project = project;
    this.title = element("span", {});
    this.body = element("div", { class: "body guidelines-text" });
    this.details = element("details", {}, element("summary", {}, this.title), this.body);
    root.replaceChildren(this.details);
  }

  render(state) {
    const task = state ? taskOf(state, state.ui.task) : null;
    const name = task?.guidelines ? task.name : "";
    if (this.shown === name) return;
    this.shown = name;
    this.title.textContent = name ? `Guidelines: ${name}` : "Guidelines";
    const texts = [task?.guidelines, this.project.guidelines].filter(Boolean);
    const paragraphs = (texts.length ? texts : ["This project has no guidelines yet."]).map(
      (text) => element("p", {}, text),
    );
    this.body.replaceChildren(...paragraphs);
  }

  /** Open or close the guidelines. */
  toggle() {
    this.details.open = !this.details.open;
    if (this.details.open) this.details.scrollIntoView({ block: "nearest" });
  }
}
