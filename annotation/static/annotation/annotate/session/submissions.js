// Handing in: answers are checked, then they, skips and flags go into the outbox, count as gone,
// and are stored once whatever is retried.
import { answersIn, documentOf, pendingByTask, problemsOf } from "../model/state.js";
import { tallySuggestions } from "../model/suggestions.js";
import { Refused } from "../sync/api.js";
import { retrying } from "../sync/connection.js";
import { showAhead, takeNext } from "./arrivals.js";
import { t } from "../words.js";
import { PHASE } from "./session.js";

/** Send the answers and show the next ask at once. Suggestions that wait count as the project says:
 *  as not there, or as the person's own. */
export function submit(session) {
  if (session.phase === PHASE.empty || session.phase === PHASE.sending) return;
  if (session.phase !== PHASE.working) {
    session.tell("warn", t("Wait a moment: this sentence is not yours yet."));
    return;
  }
  if (session.project.accepts_on_submit) acceptWaiting(session);
  const problems = problemsOf(session.state);
  if (problems.length) {
    session.tell("problems", problems);
    return;
  }
  session.tell("submitted", documentOf(session.state).values);
  handIn(session, answersOf(session));
}

/** Give the ask back for good and show the next one at once. */
export function skip(session, reason, kind = "other") {
  const { id, token } = session.lease;
  const body = { token, reason, kind };
  handIn(session, { kind: "skip", key: `skip-${token}`, lease: id, ask: session.askId, body });
}

/** Hand in the answers to some tasks; the rest comes back when everything else is done. */
export function leaveForLater(session, tasks) {
  const { id, token } = session.lease;
  const { note = "" } = documentOf(session.state);
  const answers = answersIn(session.state, tasks);
  const body = { token, answers, note, seconds: Math.round(session.clock.seconds * 10) / 10 };
  handIn(session, { kind: "later", key: `later-${token}`, lease: id, ask: session.askId, body });
}

/** Send a remark on a sentence, whatever becomes of its ask. */
export function flag(session, sentence, comment) {
  const request = { kind: "flag", key: `flag-${sentence}-${comment}`, sentence, comment };
  session.outbox.put(request);
  if (!session.connection.isOpen) session.tell("warn", t("Your flag is kept here and sent later."));
  return deliver(session, request);
}

/** Send a request of the outbox until the server has it; false if its answers are in hand again. */
export async function deliver(session, request, left = null) {
  try {
    const answer = await retrying(session.connection, () => SEND[request.kind](session.api, request));
    session.outbox.remove(request);
    DELIVERED[request.kind](session, request, answer, left);
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    session.outbox.remove(request);
    const hasAnswers = request.kind === "submit" || request.kind === "later";
    if (hasAnswers) session.tell("answer-refused", { error, left });
    else session.tell("warn", error.message);
    return !hasAnswers;
  }
}

const SEND = {
  submit: (api, { lease, body, key }) => api.submit(lease, body, key),
  skip: sendSkip,
  later: (api, { lease, body }) => api.later(lease, body),
  flag: (api, { sentence, comment }) => api.flag(sentence, comment),
};

const DELIVERED = {
  submit(session, { ask }, answer, left) {
    session.journal.drop(ask);
    session.counts = answer.counts;
    session.lastDone = left;
    session.connection.saved(answer.saved_at);
    session.tell("delivered", answer);
  },
  skip(session, { ask }, { counts }) {
    session.journal.drop(ask);
    session.counts = counts;
  },
  later(session, _, { counts }) {
    session.counts = counts;
    session.tell("warn", t("It comes back when everything else is done."));
  },
  flag: (session) => session.tell("warn", t("Flagged. Thank you.")),
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
function handIn(session, request) {
  session.outbox.put(request);
  const { state, lease, records, drafts } = session;
  const left = { state, lease, records, version: drafts.version };
  if (!showAhead(session)) session.enter(PHASE.sending);
  session.delivery = deliver(session, request, left).then((isOver) => (isOver ? takeNext(session) : null));
}

function acceptWaiting(session) {
  for (const { task, items } of pendingByTask(session.state)) {
    const keys = items.map(({ key }) => key);
    if (keys.length) session.perform({ action: { kind: "suggestion.accept", task: task.name, keys } });
  }
}

function answersOf(session) {
  const doc = documentOf(session.state);
  return {
    kind: "submit",
    lease: session.lease.id,
    ask: session.askId,
    key: `submit-${session.lease.token}`,
    body: {
      token: session.lease.token,
      answers: answersIn(session.state),
      seconds: Math.round(session.clock.seconds * 10) / 10,
      actions: session.records.map(asLogged),
      suggestions: tallySuggestions(doc, session.state.context),
      note: doc.note ?? "",
    },
  };
}

function asLogged({ at, action }) {
  const { kind, task = null, ...detail } = action;
  return { at, kind, task, detail };
}
