// An editor of gold: the annotate page's label bars, sentence and detail panel, by the same keys.
import { element } from "../annotate/dom.js";
import { listenToKeyboard } from "../annotate/input/keyboard.js";
import { listenToPointer } from "../annotate/input/pointer.js";
import { Hands } from "../annotate/model/hands.js";
import { documentOf, openState, problemsOf } from "../annotate/model/state.js";
import { Announcer } from "../annotate/page/announcer.js";
import { askForLabel } from "../annotate/page/asking.js";
import { Detail } from "../annotate/page/detail.js";
import { editingActions, editingClicks } from "../annotate/page/editing.js";
import { pageGestures } from "../annotate/page/gestures.js";
import { Stage } from "../annotate/page/stage.js";
import { TaskBars } from "../annotate/page/task_bars.js";
import { modeWords } from "../annotate/page/wording.js";

const ALL_SHOWN = { key: "", apply: (items) => items };
const NOT_HERE = () => false;

export class GoldEditor {
  /** tasks: those that may be edited or are shown with them; desk: {keys, ownKeys, chooser, help(),
   *  submit(), change()} of the page. */
  constructor(room, tasks, desk) {
    Object.assign(this, { room, tasks, desk });
    this.hands = new Hands();
    this.#build();
    this.#listen();
  }

  /** Edit values, {task: value}; given: fixed spans that relations may link. */
  open(sentence, values, given) {
    const wanted = Object.keys(values);
    const lease = { ask: { id: 0, tasks: wanted }, sentence, answers: values, context: given };
    const project = { tasks: this.tasks, language: sentence.language };
    this.wanted = wanted;
    this.room.hidden = false;
    this.hands.state = openState(project, lease);
    this.stage.arrive(this.hands.state);
    this.render();
  }

  close() {
    this.room.hidden = true;
    this.hands.state = null;
  }

  get values() {
    return documentOf(this.hands.state).values;
  }

  /** Go to the first thing that stands in the way of saving and say what it is; false if none. */
  showProblem() {
    const [problem] = problemsOf(this.hands.state);
    if (!problem) return false;
    const { task, at, message } = problem;
    this.hands.perform({ ui: { task, mode: null, ...(at === null ? {} : { cursor: at }) } });
    this.announcer.say(message, { isVisible: true, look: "bad" });
    this.focusCursor();
    return true;
  }

  /** Work on a task, with the keyboard's focus on the word under the cursor. */
  activate(task) {
    this.hands.perform({ ui: { task } });
    this.focusCursor();
  }

  focusCursor() {
    if (!this.desk.chooser.isAsking) this.stage.focus(this.hands.state.ui.cursor);
  }

  /** Show the page's keys on labels and buttons. */
  useKeys() {
    this.bars.build(this.desk.keys);
    this.detail.build(this.desk.keys);
    this.render();
  }

  render() {
    const { state } = this.hands;
    if (!state) return;
    this.bars.render(state);
    this.detail.render(state);
    this.stage.render(state);
    this.announcer.rest(modeWords(state));
  }

  #build() {
    const clicks = editingClicks(this.hands, () => this.focusCursor());
    const bars = element("section", { class: "task-bars", "aria-label": "Tasks and labels" });
    const detail = element("section", { class: "card detail", "aria-label": "Selected" });
    const message = element("p", { class: "small muted message" });
    const live = element("p", { class: "visually-hidden", role: "status" });
    this.sentence = element("tandem-sentence");
    const stage = element("div", {}, this.sentence);
    const words = element("div", { class: "words" }, stage);
    const middle = element("div", { class: "editor-desk" }, words, detail);
    this.room.replaceChildren(bars, middle, message, live);
    this.bars = new TaskBars(bars, { tasks: this.tasks }, clicks.bars);
    this.detail = new Detail(detail, clicks.detail);
    this.stage = new Stage(stage, this.sentence, ALL_SHOWN);
    this.announcer = new Announcer(live, message);
    this.useKeys();
  }

  #listen() {
    const { hands, desk, announcer } = this;
    const actions = {
      ...editingActions({ hands, view: this, submit: desk.submit }),
      help: desk.help,
      skip: NOT_HERE,
      flag: NOT_HERE,
      guidelines: NOT_HERE,
    };
    listenToKeyboard(this.room, {
      actions,
      keys: () => desk.keys,
      isFree: () => !desk.chooser.isAsking,
      usesLetters: () => desk.ownKeys.usesLetters,
    });
    listenToPointer(this.sentence, pageGestures({ desk: hands, view: this }));
    hands.addEventListener("change", () => {
      this.render();
      desk.change();
    });
    hands.addEventListener("say", ({ detail: words }) => announcer.say(words));
    hands.addEventListener("warn", ({ detail: words }) => announcer.say(words, { isVisible: true }));
    hands.addEventListener("choose", async ({ detail: question }) => {
      await askForLabel(desk.chooser, hands, this.sentence, question);
      this.focusCursor();
    });
  }
}
