// The annotate page: puts the parts together and starts work.
import { takeNext } from "./desk/arriving.js";
import { Desk, PHASE } from "./desk/desk.js";
import { deliver } from "./desk/submitting.js";
import { listenToKeyboard } from "./input/keyboard.js";
import { allocateKeys, commandCap } from "./input/keys.js";
import { listenToPointer } from "./input/pointer.js";
import { pageActions } from "./page/actions.js";
import { Announcer } from "./page/announcer.js";
import { Detail } from "./page/detail.js";
import { editingClicks } from "./page/editing.js";
import { Elsewhere } from "./page/elsewhere.js";
import { Facts } from "./page/facts.js";
import { Filters } from "./page/filters.js";
import { pageGestures } from "./page/gestures.js";
import { Guidelines } from "./page/guidelines.js";
import { showKeys } from "./page/keys_dialog.js";
import { OwnKeys } from "./page/settings.js";
import { Stage } from "./page/stage.js";
import { Talk } from "./page/talk.js";
import { TaskBars } from "./page/task_bars.js";
import { View } from "./page/view.js";
import { Api, Refused } from "./sync/api.js";
import { WorkClock } from "./sync/clock.js";
import { Connection } from "./sync/connection.js";
import { Heartbeat } from "./sync/heartbeat.js";
import { Journal } from "./sync/journal.js";
import { Outbox } from "./sync/outbox.js";
import { openStorage } from "./sync/storage.js";
import "./sentence/element.js";

const PATIENCE = 1_500; // milliseconds until the page says that it waits for a sentence

const part = (id) => document.getElementById(id);
const { project, person } = JSON.parse(part("desk").textContent);
const owner = `${person.name}/${project.id}`;
const { storage, isLasting } = openStorage();
const api = new Api(project.id, person.id);
const connection = new Connection();
const desk = new Desk({
  project,
  api,
  connection,
  journal: new Journal(storage, owner, warnOfFullStorage),
  outbox: new Outbox(storage, owner, warnOfFullStorage),
  clock: new WorkClock(),
});
const ownKeys = new OwnKeys(storage, owner);
let keys = allocateKeys(project.tasks, ownKeys.choice);

const announcer = new Announcer(part("announcer"), part("message"));
const guidelines = new Guidelines(part("guidelines"), project);
const clicks = editingClicks(desk, () => view.focusCursor());
const bars = new TaskBars(part("task-bars"), project, clicks.bars);
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
const stage = new Stage(part("stage"), sentence, filters);
const view = new View({ desk, stage, bars, detail, guidelines, facts, announcer });
const talk = new Talk(desk, view);
const actions = pageActions({
  desk,
  view,
  talk,
  showKeys: openKeys,
  guidelines: () => guidelines.toggle(),
});
const heartbeat = new Heartbeat(api, connection, {
  lost: () => talk.leaseLost(desk.state.history.doc.values),
});

useKeys();
listenToKeyboard(document, {
  actions,
  keys: () => keys,
  isFree: () => !talk.isBusy,
  usesLetters: () => ownKeys.usesLetters,
});
listenToPointer(sentence, pageGestures({ desk, view }));
listenToDesk();
listenToButtons();
const elsewhere = new Elsewhere(owner, desk, () => start());
elsewhere.begin();
view.renderSaved();
setTimeout(() => (document.body.dataset.slow = ""), PATIENCE);
if (!isLasting) warn("This browser keeps no journal: wait for ‘Saved’ before you close the page.");
addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof Refused)) return;
  event.preventDefault();
  warn(event.reason.message);
});

/** Send what an earlier visit left in the outbox, then take the next ask. */
async function start() {
  const sent = desk.outbox.waiting.map((parcel) => deliver(desk, parcel));
  if ((await Promise.all(sent)).every(Boolean)) await takeNext(desk);
}

/** The page is shown once it is filled, so that nothing moves while it loads. */
function showPage() {
  document.body.dataset.ready = "";
}

function warn(words) {
  announcer.say(words, { isVisible: true, look: "bad" });
}

function warnOfFullStorage() {
  warn("This browser's storage is full: stay online.");
}

function useKeys() {
  keys = allocateKeys(project.tasks, ownKeys.choice);
  bars.build(keys);
  detail.build(keys);
  const [cap, flag] = [part("flag").lastElementChild, commandCap(keys, "flag")];
  cap.textContent = flag;
  cap.hidden = !flag;
  view.render();
  return keys;
}

function openKeys() {
  showKeys(project, keys, ownKeys.settings(useKeys));
}

function listenToDesk() {
  desk.addEventListener("change", () => {
    view.render();
    if (desk.phase !== PHASE.loading) showPage();
    heartbeat.lease === desk.lease || heartbeat.attach(desk.lease);
  });
  desk.addEventListener("arrival", () => view.arrive());
  desk.addEventListener("say", ({ detail: words }) => announcer.say(words));
  desk.addEventListener("warn", ({ detail: words }) => announcer.say(words, { isVisible: true }));
  desk.addEventListener("choose", ({ detail: question }) => talk.choose(question));
  desk.addEventListener("stale", ({ detail: both }) => talk.stale(both));
  desk.addEventListener("draft-refused", ({ detail: refusal }) => talk.draftRefused(refusal));
  desk.addEventListener("answer-refused", ({ detail: refusal }) => talk.answerRefused(refusal));
  desk.addEventListener("lost", ({ detail: loss }) => talk.lost(loss));
  desk.addEventListener("problems", ({ detail: problems }) => showProblem(problems[0]));
  connection.addEventListener("change", () => {
    view.renderSaved();
    view.renderLine();
  });
}

/** Go to the first thing that stands in the way of submitting, and say what it is. */
function showProblem({ task, message, at }) {
  const ui = { mode: null, anchor: null, selected: null, ...(at === null ? {} : { cursor: at }) };
  if (desk.state.wanted.includes(task)) ui.task = task;
  desk.perform({ ui });
  view.focusCursor();
  warn(message);
}

function listenToButtons() {
  for (const name of ["undo", "skip", "flag", "submit", "accept", "reject"]) {
    part(name).addEventListener("click", () => {
      actions[name]();
      view.focusCursor();
    });
  }
  part("open-keys").addEventListener("click", openKeys);
  addEventListener("beforeunload", (event) => {
    if (desk.phase !== PHASE.elsewhere && !isLasting && desk.drafts.hasUnsent)
      event.preventDefault();
  });
}
