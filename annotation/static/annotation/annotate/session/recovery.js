// Going back, and getting over refusals: reopened answers, lost leases, two versions of a draft.
import { Refused, Unreachable } from "../sync/api.js";
import { retrying } from "../sync/connection.js";
import { t } from "../words.js";
import { openLease, takeNext } from "./arrivals.js";
import { PHASE } from "./session.js";

/** Undo: the last action, or, where none is left, the last submitted sentence comes back. Without a
 *  line it does not: nobody wants to be taken back to it in the middle of later work. */
export async function undo(session) {
  if (session.stepBack() || session.isGoingBack) return;
  session.isGoingBack = true;
  try {
    if (!session.connection.isOpen) throw new Unreachable();
    await session.delivery;
    await session.drafts.settle();
    await goBack(session, 1, { withSkip: true });
  } catch (error) {
    if (error instanceof Unreachable) session.tell("warn", t("The last sentence comes back only online."));
    else if (error instanceof Refused) session.tell("warn", error.message);
    else throw error;
  } finally {
    session.isGoingBack = false;
  }
}

/** Walk through one's own answers: by 1 to the one before, by -1 towards the sentence that was open. */
export async function walkBack(session, by) {
  if (session.isGoingBack) return;
  session.isGoingBack = true;
  try {
    if (!session.connection.isOpen) throw new Unreachable();
    await session.delivery;
    await session.drafts.settle();
    await goBack(session, by);
  } catch (error) {
    if (error instanceof Unreachable) session.tell("warn", t("Your answers come back only online."));
    else if (error instanceof Refused) session.tell("warn", error.message);
    else throw error;
  } finally {
    session.isGoingBack = false;
  }
}

/** Open a row of the history: answers are reopened, a skip is taken up again. */
export async function openRow(session, row) {
  const isAnswer = row.submission !== null;
  const { lastDone } = session;
  if (row.state === "later") {
    session.tell("warn", t("It comes back when everything else is done."));
    return;
  }
  const lease = isAnswer
    ? await session.api.reopen(row.submission)
    : await session.api.takeUpSkip(row.lease);
  openLease(session, lease);
  giveBackHistory(session, lastDone);
  session.tell("warn", isAnswer ? t("Back in an earlier sentence. Submit it again when it is right.") : t("No longer skipped."));
}

/** From the answer that is open now to the one before or after it; it never swings between two. */
async function goBack(session, by, { withSkip = false } = {}) {
  const here = session.lease?.id;
  let rows = [];
  let cursor = "";
  for (;;) {
    const page = await session.api.history({ cursor });
    if (withSkip && !cursor && page.results[0]?.state === "skipped" && !page.results.some(isHere)) {
      await openRow(session, page.results[0]);
      return;
    }
    rows = [...rows, ...page.results.filter((row) => row.can_reopen && row.submission !== null)];
    const at = rows.findIndex(isHere);
    const isEnough = at >= 0 ? at + by < rows.length : rows.length > 0 || by < 0;
    if (isEnough || !page.next) break;
    cursor = page.next;
  }
  const at = rows.findIndex(isHere);
  const next = rows[at + by];
  if (next) await openRow(session, next);
  else if (by < 0 && at === 0) await leaveReopened(session);
  else session.tell("warn", by > 0 ? t("Nothing to go back to.") : t("This is the newest sentence."));

  function isHere({ lease }) {
    return lease === here;
  }
}

/** Close reopened answers unchanged and go on with the sentence that was open. */
async function leaveReopened(session) {
  await session.api.release(session.lease.id, session.lease.token);
  session.journal.drop(session.askId);
  await takeNext(session);
}

/** The steps that led to the answers come back too, as long as this page is open. */
function giveBackHistory(session, lastDone) {
  if (lastDone?.state.ask.id !== session.askId) return;
  const { history } = lastDone.state;
  if (JSON.stringify(history.doc.values) !== JSON.stringify(session.state.history.doc.values)) return;
  session.journal.start(session.askId, { doc: history.past[0] ?? history.doc, known: 0, seconds: 0 });
  session.records = [...lastDone.records];
  session.records.forEach((record, n) => session.journal.append(session.askId, n, record));
  session.state = { ...session.state, history };
  session.tell("change");
}

/** The lease is gone: go on if the ask can be had again, else say so and show both versions. */
export async function regain(session, { yours, current = {} }) {
  const lost = { state: session.state, records: session.records };
  const lease = await retrying(session.connection, () => session.api.next());
  if (lease && lease.ask.id === lost.state.ask.id) {
    session.lease = lease;
    session.drafts.attach(lease, lease.draft_version);
    session.enter(PHASE.working);
    session.saveSoon();
    return true;
  }
  session.tell("lost", { state: lost.state, yours, current, next: lease });
  return false;
}

/** After an answer was refused: back to the sentence, with what is wrong. */
export async function takeBack(session, { error, left }) {
  if (left) {
    Object.assign(session, { state: left.state, lease: left.lease, records: left.records });
    session.drafts.attach(left.lease, left.version);
    session.present(PHASE.working);
  }
  if (error.code === "lease_lost" && left) {
    await regain(session, error.details);
  } else if (error.code === "invalid") {
    session.tell("problems", problemsIn(error.fields));
  } else {
    session.tell("warn", error.message);
    if (!left) await takeNext(session);
  }
}

function problemsIn(fields) {
  return Object.entries(fields).flatMap(([path, messages]) =>
    messages.map((message) => ({ task: path.split(".")[0], message, at: null })),
  );
}
