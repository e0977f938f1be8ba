// Handing in: answers are checked, then they, skips and flags go into the outbox, count as gone,
// and are stored once whatever is retried.
import { documentOf, pendingByTask, problemsOf } from "../model/state.js";
import { tallySuggestions } from "../model/suggestions.js";
import { Refused } from "../sync/api.js";
import { showAhead, takeNext } from "./arriving.js";
import { PHASE } from "./desk.js";
import { retrying } from "./retrying.js";

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
  handIn(desk, answersOf(desk));
}

/** Give the ask back for good and show the next one at once. */
export function skip(desk, reason) {
  const { id, token } = desk.lease;
  const body = { token, reason };
  handIn(desk, { kind: "skip", key: `skip-${token}`, lease: id, ask: desk.askId, body });
}

/** Send a remark on a sentence, whatever becomes of its ask. */
export function flag(desk, sentence, comment) {
  const parcel = { kind: "flag", key: `flag-${sentence}-${comment}`, sentence, comment };
  desk.outbox.put(parcel);
  if (!desk.connection.isOpen) desk.tell("warn", "Your flag is kept here and sent later.");
  return deliver(desk, parcel);
}

/** Send a parcel of the outbox until the server has it; false if its answers are in hand again. */
export async function deliver(desk, parcel, left = null) {
  try {
    const answer = await retrying(desk, () => SEND[parcel.kind](desk.api, parcel));
    desk.outbox.remove(parcel);
    DELIVERED[parcel.kind](desk, parcel, answer, left);
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    desk.outbox.remove(parcel);
    if (parcel.kind === "submit") desk.tell("answer-refused", { error, left });
    else desk.tell("warn", error.message);
    return parcel.kind !== "submit";
  }
}

const SEND = {
  submit: (api, { lease, body, key }) => api.submit(lease, body, key),
  skip: sendSkip,
  flag: (api, { sentence, comment }) => api.flag(sentence, comment),
};

const DELIVERED = {
  submit(desk, { ask }, answer, left) {
    desk.journal.drop(ask);
    desk.counts = answer.counts;
    desk.lastDone = left;
    desk.connection.saved(answer.saved_at);
    desk.tell("delivered", answer);
  },
  skip(desk, { ask }, { counts }) {
    desk.journal.drop(ask);
    desk.counts = counts;
  },
  flag: (desk) => desk.tell("warn", "Flagged. Thank you."),
};

/** Skip; a lease that ran out meanwhile is taken up again for it, while its place is free. */
async function sendSkip(api, { lease, body }) {
  try {
    return await api.skip(lease, body);
  } catch (error) {
    if (error.code !== "lease_lost") throw error;
    await api.heartbeat(lease, body.token);
    return api.skip(lease, body);
  }
}

/** Put what ends a lease into the outbox, and go on. */
function handIn(desk, parcel) {
  desk.outbox.put(parcel);
  const { state, lease, records, drafts } = desk;
  const left = { state, lease, records, version: drafts.version };
  if (!showAhead(desk)) desk.enter(PHASE.sending);
  desk.delivery = deliver(desk, parcel, left).then((isOver) => (isOver ? takeNext(desk) : null));
}

function acceptWaiting(desk) {
  for (const { task, items } of pendingByTask(desk.state)) {
    const keys = items.map(({ key }) => key);
    if (keys.length) desk.perform({ action: { kind: "suggestion.accept", task: task.name, keys } });
  }
}

function answersOf(desk) {
  const doc = documentOf(desk.state);
  return {
    kind: "submit",
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
