// An editor of gold: the annotate page's label bars, sentence and detail panel, by the same keys.
import { element } from "../annotate/dom.js";
import { allocateKeys } from "../annotate/input/keys.js";
import { listenToKeyboard } from "../annotate/input/keyboard.js";
import { listenToPointer, sentenceGestures } from "../annotate/input/pointer.js";
import { Editor } from "../annotate/model/editor.js";
import { Usage } from "../annotate/model/labels.js";
import { documentOf, openState, problemsOf } from "../annotate/model/state.js";
import { editingActions, editingClicks } from "../annotate/page/actions.js";
import { Announcer, modeWords } from "../annotate/page/announcer.js";
import { askForLabel, Chooser } from "../annotate/page/chooser.js";
import { Detail } from "../annotate/page/detail.js";
import { OwnKeys, showKeys } from "../annotate/page/own_keys.js";
import { Stage } from "../annotate/page/stage.js";
import { TaskList } from "../annotate/page/task_list.js";
import { openStorage, PageMemory } from "../annotate/sync/journal.js";
import { t } from "../annotate/words.js";

const ALL_SHOWN = { key: "", apply: (items) => items };
const NOT_HERE = () => false;

/** What the editors of a page share: keys, the list of labels, what was used lately.
 *  submit: called by Enter; change: after every change. */
export function editingPage({ tasks, owner, submit, change }) {
  const { storage } = openStorage();
  const ownKeys = new OwnKeys(storage, owner);
  const usage = new Usage();
  const useKeys = () => {
    page.keys = allocateKeys(tasks, ownKeys.choice);
    for (const editor of page.editors) editor.useKeys();
    return page.keys;
  };
  const page = {
    keys: allocateKeys(tasks, ownKeys.choice),
    ownKeys,
    usage,
    editors: [],
    memory: new PageMemory(storage, owner),
    chooser: new Chooser({ keys: () => page.keys, usage }),
    help: () => showKeys({ tasks }, page.keys, ownKeys.settings(useKeys)),
    submit,
    change,
  };
  return page;
}

export class GoldEditor {
  /** tasks: those that may be edited or are shown with them; page: of editingPage. */
  constructor(room, tasks, page) {
    Object.assign(this, { room, tasks, page });
    page.editors.push(this);
    this.editor = new Editor();
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
    this.editor.state = openState(project, lease);
    this.stage.arrive(this.editor.state);
    this.render();
  }

  close() {
    this.room.hidden = true;
    this.editor.state = null;
  }

  get values() {
    return documentOf(this.editor.state).values;
  }

  /** Go to the first thing that stands in the way of saving and say what it is; false if none. */
  showProblem() {
    const [problem] = problemsOf(this.editor.state);
    if (!problem) return false;
    const { task, at, message } = problem;
    this.editor.perform({ ui: { task, mode: null, ...(at === null ? {} : { cursor: at }) } });
    this.announcer.say(message, { isVisible: true, look: "bad" });
    this.focusCursor();
    return true;
  }

  /** Work on a task, with the keyboard's focus on the word under the cursor. */
  activate(task) {
    this.editor.perform({ ui: { task } });
    this.focusCursor();
  }

  focusCursor() {
    if (!this.page.chooser.isAsking) this.stage.focus(this.editor.state.ui.cursor);
  }

  escape() {
    this.list.closePrefix();
  }

  /** Show the page's keys on labels and buttons. */
  useKeys() {
    this.list.build(this.page.keys);
    this.detail.build(this.page.keys);
    this.render();
  }

  render() {
    const { state } = this.editor;
    if (!state) return;
    this.list.render(state);
    this.detail.render(state);
    this.stage.render(state);
    this.announcer.rest(modeWords(state));
  }

  #build() {
    const clicks = editingClicks(this.editor, () => this.focusCursor());
    const bars = element("section", { class: "task-bars", "aria-label": t("Tasks and labels") });
    const detail = element("section", { class: "card detail", "aria-label": t("Selected") });
    const message = element("p", { class: "small muted message" });
    const live = element("p", { class: "visually-hidden", role: "status" });
    this.sentence = element("tandem-sentence");
    const stage = element("div", {}, this.sentence);
    const words = element("div", { class: "words" }, stage);
    const middle = element("div", { class: "editor-desk" }, words, detail);
    this.room.replaceChildren(bars, middle, message, live);
    const { usage, memory } = this.page;
    this.list = new TaskList(bars, { tasks: this.tasks }, clicks.labels, { usage, memory });
    this.detail = new Detail(detail, clicks.detail);
    this.stage = new Stage(stage, this.sentence, ALL_SHOWN);
    this.announcer = new Announcer(live, message);
    this.useKeys();
  }

  #listen() {
    const { editor, page, announcer } = this;
    const actions = {
      ...editingActions({
        editor,
        tasks: this.tasks,
        keys: () => page.keys,
        view: this,
        submit: page.submit,
      }),
      help: page.help,
      skip: NOT_HERE,
      flag: NOT_HERE,
      guidelines: NOT_HERE,
    };
    listenToKeyboard(this.room, {
      actions,
      keys: () => page.keys,
      active: () => editor.state?.ui.task,
      isFree: () => !page.chooser.isAsking,
      usesLetters: () => page.ownKeys.usesLetters,
    });
    listenToPointer(this.sentence, sentenceGestures({ editor, view: this }));
    editor.addEventListener("change", () => {
      this.render();
      page.change();
    });
    editor.addEventListener("say", ({ detail: words }) => announcer.say(words));
    editor.addEventListener("warn", ({ detail: words }) => announcer.say(words, { isVisible: true }));
    editor.addEventListener("choose", async ({ detail: question }) => {
      await askForLabel(page.chooser, editor, this.sentence, question, (task) =>
        this.list.nodeOf(task),
      );
      this.focusCursor();
    });
  }
}
