// One task of the sentence: its differences as choices, or an editor in their place.
import { element } from "../annotate/dom.js";
import {
  answerOf,
  answerToEdit,
  choiceOf,
  choicesFor,
  groupsOf,
  groupTitle,
  isOneOf,
  itemWords,
  majorityOf,
} from "./choices.js";
import { t } from "../annotate/words.js";

export class CaseCard {
  /** task: a case of the server; on: {edit(card), back(card), change(card)}. */
  constructor(root, task, tokens, on) {
    Object.assign(this, { root, task, tokens, on });
    this.box = root.querySelector("[data-decisions]");
    this.room = root.querySelector("[data-editor]"); // for an editor
    this.note = root.querySelector("[data-edited]");
    this.box.append(...groupsOf(task).map((group) => this.#field(group)));
    for (const button of root.querySelectorAll("[data-all-from]")) {
      button.addEventListener("click", () => this.takeAll(button.dataset.allFrom));
    }
    root.querySelector("[data-majority]")?.addEventListener("click", () => this.takeMajority());
    root.querySelector("[data-edit]").addEventListener("click", () => on.edit(this));
    root.querySelector("[data-back]").addEventListener("click", () => on.back(this));
    this.box.addEventListener("change", () => on.change(this));
  }

  get name() {
    return this.task.task;
  }

  /** The choices made: a map from group to choice. */
  get chosen() {
    return new Map(
      groupsOf(this.task).map(({ key }) => {
        const value = this.box.querySelector(`${this.#inputs(key)}:checked`)?.value;
        return [key, value === undefined || value === "none" ? value : Number(value)];
      }),
    );
  }

  get answer() {
    return answerOf(this.task, this.chosen);
  }

  get answerToEdit() {
    return answerToEdit(this.task, this.chosen);
  }

  /** Choose what one person says everywhere. */
  takeAll(person) {
    for (const group of groupsOf(this.task)) {
      this.#choose(group.key, choiceOf(this.task, group, person));
    }
    this.on.change(this);
  }

  /** Choose what most people say, group by group; what is tied stays open. */
  takeMajority() {
    for (const group of groupsOf(this.task)) {
      const choice = majorityOf(this.task, group);
      if (choice !== undefined) this.#choose(group.key, choice);
    }
    this.on.change(this);
  }

  /** Choose "not there" for all that does not stand any more. */
  leaveOut(stands) {
    for (const { key, differences } of groupsOf(this.task)) {
      if (!differences.some(({ item }) => stands(item))) this.#choose(key, "none");
    }
  }

  /** Choose what makes an answer; false where no choices do. */
  take(value) {
    for (const [key, choice] of choicesFor(this.task, value)) this.#choose(key, choice);
    return JSON.stringify(this.answer) === JSON.stringify(value);
  }

  /** Show what was decided before; nothing where it was edited, so that no Enter changes it. */
  takeDecided() {
    const { gold, gold_source: source, differences } = this.task;
    if (!source || !differences.length || this.take(gold)) return;
    for (const input of this.box.querySelectorAll("input:checked")) input.checked = false;
  }

  /** Show the choices, or words that say where the answer is edited. */
  showEdited(words) {
    this.box.hidden = words !== null;
    this.note.parentElement.hidden = words === null;
    this.note.textContent = words ?? "";
    for (const button of this.root.querySelectorAll("[data-all-from], [data-majority], [data-edit]")) {
      button.hidden = words !== null;
    }
  }

  focus() {
    this.box.querySelector("input")?.focus();
  }

  #field(group) {
    const { task, tokens } = this;
    const choices = element("div", { class: "verdicts" });
    const isOne = isOneOf(task);
    for (const difference of group.differences) {
      const words = isOne ? itemWords(task, difference.item, tokens) : t("keep it");
      choices.append(
        this.#option(group.key, task.differences.indexOf(difference), words, difference.people),
      );
    }
    if (!isOne) {
      const [{ people }] = group.differences;
      const others = Object.keys(task.answers).filter((person) => !people.includes(person));
      choices.append(this.#option(group.key, "none", t("not there"), others));
    }
    const title = element("legend", {}, groupTitle(task, group, tokens));
    return element("fieldset", { class: "decision" }, title, choices);
  }

  #option(key, value, words, people) {
    const radio = element("input", { type: "radio", name: `${this.name}/${key}`, value });
    const who = element("span", { class: "small faint" }, people.join(", "));
    return element("label", { class: "verdict" }, radio, element("span", {}, words), who);
  }

  #choose(key, choice) {
    const radio = this.box.querySelector(`${this.#inputs(key)}[value="${choice}"]`);
    if (radio) radio.checked = true;
  }

  #inputs(key) {
    return `input[name="${CSS.escape(`${this.name}/${key}`)}"]`;
  }
}
