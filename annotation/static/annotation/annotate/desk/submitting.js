// Submitting: checked here, put into the outbox, shown as gone, stored once whatever is retried.
import { checkTask } from "../model/checks.js";
import { documentOf, pendingByTask, wantedTasks } from "../model/state.js";
import { tallySuggestions } from "../model/suggestions.js";
import { Refused } from "../sync/api.js";
import { showAhead, takeNext } from "./arriving.js";
import { PHASE } from "./desk.js";
import { retrying } from "./retrying.js";

/** What stands in the way of submitting: [{task, message, at}]. */
export function problemsOf(state) {
  const doc = documentOf(state);
  return wantedTasks(state).flatMap((task) =>
    checkTask(task, doc, state.context, state.sentence.tokens).problems.map((problem) => ({
      task: task.name,
      ...problem,
    })),
  );
}

/** Send the answers and show the next ask at once. */
export function submit(desk) {
  if (desk.phase !== PHASE.working) {
    desk.tell("warn", "Wait a moment: this sentence is not yours yet.");
    return;
  }
  if (desk.project.accepts_on_submit) acceptWaiting(desk);
  const problems = problemsOf(desk.state);
  if (problems.length) {
    desk.tell("problems", problems);
    return;
  }
  desk.outbox.put(parcelOf(desk));
  const { state, lease, records, drafts } = desk;
  const left = { state, lease, records, version: drafts.version };
  if (!showAhead(desk)) desk.enter(PHASE.sending);
  desk.delivery = deliver(desk, left).then((isStored) => (isStored ? takeNext(desk) : null));
}

/** Send what waits in the outbox until the server has it; true if it is stored. */
export async function deliver(desk, left = null) {
  const parcel = desk.outbox.waiting;
  if (!parcel) return true;
  try {
    const answer = await retrying(desk, () =>
      desk.api.submit(parcel.lease, parcel.body, parcel.key),
    );
    desk.outbox.clear();
    desk.journal.drop(parcel.ask);
    desk.counts = answer.counts;
    desk.lastDone = left;
    desk.connection.saved(answer.saved_at);
    desk.tell("delivered", answer);
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    desk.outbox.clear();
    desk.tell("answer-refused", { error, left });
    return false;
  }
}

function acceptWaiting(desk) {
  for (const { task, items } of pendingByTask(desk.state)) {
    const keys = items.map(({ key }) => key);
    if (keys.length) desk.perform({ action: { kind: "suggestion.accept", task: task.name, keys } });
  }
}

function parcelOf(desk) {
  const doc = documentOf(desk.state);
  return {
    lease: desk.lease.id,
    ask: desk.askId,
    key: `submit-${desk.lease.token}`,
    body: {
      token: desk.lease.token,
      answers: doc.values,
      seconds: Math.round(desk.clock.seconds * 10) / 10,
      actions: desk.records.map(asLogged),
      suggestions: tallySuggestions(doc, desk.state.context),
    },
  };
}

function asLogged({ at, action }) {
  const { kind, task = null, ...detail } = action;
  return { at, kind, task, detail };
}
