// The annotate page: puts the parts together and starts work.
import { listenToKeyboard } from "./input/keyboard.js";
import { allocateKeys, commandCap } from "./input/keys.js";
import { listenToPointer, listenToSwipe, sentenceGestures } from "./input/pointer.js";
import { Usage } from "./model/labels.js";
import { editingActions, editingClicks } from "./page/actions.js";
import { Announcer } from "./page/announcer.js";
import { Chooser } from "./page/chooser.js";
import { Detail } from "./page/detail.js";
import { Dialogs } from "./page/dialogs.js";
import { Drawer } from "./page/drawer.js";
import { OwnKeys, showKeys } from "./page/own_keys.js";
import { Facts, Guidelines } from "./page/panels.js";
import { Proposals } from "./page/proposals.js";
import { Rules } from "./page/rules.js";
import { Filters, Stage } from "./page/stage.js";
import { TabLock } from "./page/tab_lock.js";
import { TaskList } from "./page/task_list.js";
import { View } from "./page/view.js";
import { takeNext } from "./session/arrivals.js";
import { openRow, undo, walkBack } from "./session/recovery.js";
import { PHASE, Session, WorkClock } from "./session/session.js";
import { deliver, submit } from "./session/submissions.js";
import { Api, Refused } from "./sync/api.js";
import { Connection, Heartbeat } from "./sync/connection.js";
import { Journal, openStorage, Outbox, PageMemory } from "./sync/journal.js";
import "./sentence/element.js";
import { t } from "./words.js";

const PATIENCE = 1_500; // milliseconds until the page says that it waits for a sentence

const part = (id) => document.getElementById(id);
const { project, person, usage: counts } = JSON.parse(part("annotate-data").textContent);
const owner = `${person.name}/${project.id}`;
const { storage, isLasting } = openStorage();
const api = new Api(project.id, person.id);
const connection = new Connection();
const session = new Session({
  project,
  api,
  connection,
  journal: new Journal(storage, owner, warnOfFullStorage),
  outbox: new Outbox(storage, owner, warnOfFullStorage),
  clock: new WorkClock(),
});
const ownKeys = new OwnKeys(storage, owner);
let keys = allocateKeys(project.tasks, ownKeys.choice);
const usage = new Usage(counts);

const announcer = new Announcer(part("announcer"), part("message"));
const guidelines = new Guidelines(part("guidelines"));
const clicks = editingClicks(session, () => view.focusCursor());
const memory = new PageMemory(storage, owner);
const list = new TaskList(part("task-bars"), project, clicks.labels, { usage, memory });
const detail = new Detail(part("detail"), clicks.detail);
const facts = new Facts({
  counts: part("counts"),
  minutes: part("minutes"),
  saved: part("saved"),
  round: part("round"),
});
const sentence = part("sentence");
const filters = new Filters(part("filters"), project, () => {
  view.render();
  view.focusCursor();
});
const stage = new Stage(part("stage"), sentence, filters, () => list.spare);
const proposals = new Proposals(part("proposals"), {
  command: (id) => actions[id](),
  go: (word) => actions.moveTo(word),
});
const rules = project.ud_validation
  ? new Rules(part("rules"), session, { go: showFinding })
  : { update: () => null };
const view = new View({ session, stage, list, detail, proposals, guidelines, facts, announcer });
const dialogs = new Dialogs(session, view, new Chooser({ keys: () => keys, usage }));
const drawer = new Drawer(part("drawer"), session, {
  open: (row) => {
    drawer.close();
    void openRow(session, row);
  },
  closed: () => view.focusCursor(),
});
const editing = editingActions({
  editor: session,
  tasks: project.tasks,
  keys: () => keys,
  view,
  submit: () => submit(session),
});
const actions = {
  ...editing,
  submit: dialogs.submit,
  undo: () => void undo(session),
  escape: () => (drawer.isOpen ? drawer.close() : editing.escape()),
  skip: dialogs.skip,
  flag: dialogs.flag,
  note: dialogs.note,
  later: dialogs.later,
  back: () => void walkBack(session, 1),
  forth: () => void walkBack(session, -1),
  history: () => void drawer.show("history"),
  document: () => void drawer.show("document"),
  help: openKeys,
  guidelines: () => guidelines.toggle(),
};
const heartbeat = new Heartbeat(api, connection, {
  lost: () => dialogs.leaseLost(session.state.history.doc.values),
});

useKeys();
listenToKeyboard(document, {
  actions,
  keys: () => keys,
  active: () => session.state?.ui.task,
  isFree: () => !dialogs.isBusy,
  usesLetters: () => ownKeys.usesLetters,
});
listenToPointer(sentence, sentenceGestures({ editor: session, view }));
listenToSwipe(document.querySelector(".canvas"), () => actions.back());
listenToSession();
listenToButtons();
const tabLock = new TabLock(owner, session, memory, () => start());
tabLock.begin();
view.renderSaved();
setTimeout(() => (document.body.dataset.slow = ""), PATIENCE);
if (!isLasting) warn(t("This browser keeps no journal: wait for ‘Saved’ before you close the page."));
addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof Refused)) return;
  event.preventDefault();
  warn(event.reason.message);
});

/** Send what an earlier visit left in the outbox, then take the next ask. */
async function start() {
  const sent = session.outbox.waiting.map((request) => deliver(session, request));
  if ((await Promise.all(sent)).every(Boolean)) await takeNext(session);
}

/** The page is shown once it is filled, so that nothing moves while it loads; what is not shown cannot
 *  have the focus. */
function showPage() {
  if ("ready" in document.body.dataset) return;
  document.body.dataset.ready = "";
  view.focusCursor();
}

function warn(words) {
  announcer.say(words, { isVisible: true, look: "bad" });
}

function warnOfFullStorage() {
  warn(t("This browser's storage is full: stay online."));
}

function useKeys() {
  keys = allocateKeys(project.tasks, ownKeys.choice);
  list.build(keys);
  detail.build(keys);
  proposals.build(keys);
  const [cap, flag] = [part("flag").lastElementChild, commandCap(keys, "flag")];
  cap.textContent = flag;
  cap.hidden = !flag;
  view.render();
  return keys;
}

function openKeys() {
  showKeys(project, keys, ownKeys.settings(useKeys));
}

function listenToSession() {
  session.addEventListener("change", () => {
    view.render();
    keepUp();
  });
  session.addEventListener("arrival", () => {
    view.arrive();
    keepUp();
  });
  session.addEventListener("submitted", ({ detail: values }) => {
    announcer.clear(); // what was said of this sentence is not said of the next
    usage.note(project.tasks, values);
  });
  session.addEventListener("labels", useKeys); // a new one has a key, too
  session.addEventListener("say", ({ detail: words }) => announcer.say(words));
  session.addEventListener("warn", ({ detail: words }) => announcer.say(words, { isVisible: true }));
  session.addEventListener("choose", ({ detail: question }) => dialogs.choose(question));
  session.addEventListener("stale", ({ detail: both }) => dialogs.stale(both));
  session.addEventListener("draft-refused", ({ detail: refusal }) => dialogs.draftRefused(refusal));
  session.addEventListener("answer-refused", ({ detail: refusal }) => dialogs.answerRefused(refusal));
  session.addEventListener("lost", ({ detail: loss }) => dialogs.lost(loss));
  session.addEventListener("problems", ({ detail: problems }) => showProblem(problems[0]));
  connection.addEventListener("change", () => {
    view.renderSaved();
    view.renderLine();
  });
}

function keepUp() {
  rules.update();
  if (session.phase !== PHASE.loading) showPage();
  if (heartbeat.lease !== session.lease) heartbeat.attach(session.lease);
}

/** Go to the word that breaks a rule, with the task that it is about open. */
function showFinding({ task, word }) {
  const ui = { mode: null, anchor: null, selected: null, ...(word === null ? {} : { cursor: word }) };
  if (session.state.wanted.includes(task)) ui.task = task;
  session.perform({ ui });
  view.focusCursor();
}

/** Go to the first thing that stands in the way of submitting, and say what it is. */
function showProblem({ task, message, at }) {
  const ui = { mode: null, anchor: null, selected: null, ...(at === null ? {} : { cursor: at }) };
  if (session.state.wanted.includes(task)) ui.task = task;
  session.perform({ ui });
  view.focusCursor();
  warn(message);
}

function listenToButtons() {
  const buttons = {
    undo: "undo",
    skip: "skip",
    flag: "flag",
    note: "note",
    later: "later",
    "open-history": "history",
    "open-document": "document",
    "accept-all": "acceptEverything",
    submit: "confirm",
  };
  for (const [id, name] of Object.entries(buttons)) {
    part(id).addEventListener("click", () => {
      actions[name]();
      if (!drawer.isOpen) view.focusCursor();
    });
  }
  part("open-keys").addEventListener("click", openKeys);
  addEventListener("beforeunload", (event) => {
    if (session.phase !== PHASE.locked && !isLasting && session.drafts.hasUnsent)
      event.preventDefault();
  });
}
