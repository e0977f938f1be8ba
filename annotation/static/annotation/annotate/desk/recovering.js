// Going back, and getting over refusals: reopened answers, lost leases, two versions of a draft.
import { Refused, Unreachable } from "../sync/api.js";
import { openLease, takeNext } from "./arriving.js";
import { PHASE } from "./desk.js";
import { retrying } from "./retrying.js";

/** Undo: the last action, or, where none is left, the last submitted sentence comes back. Without a
 *  line it does not: nobody wants to be taken back to it in the middle of later work. */
export async function undo(desk) {
  if (desk.stepBack() || desk.isGoingBack) return;
  desk.isGoingBack = true;
  try {
    if (!desk.connection.isOpen) throw new Unreachable();
    await desk.delivery;
    await reopenLast(desk);
  } catch (error) {
    if (error instanceof Unreachable) desk.tell("warn", "The last sentence comes back only online.");
    else if (error instanceof Refused) desk.tell("warn", error.message);
    else throw error;
  } finally {
    desk.isGoingBack = false;
  }
}

async function reopenLast(desk) {
  const here = desk.state?.sentence.id;
  const { results } = await desk.api.history();
  const last = results.find(({ sentence, can_reopen }) => can_reopen && sentence.id !== here);
  if (!last) {
    desk.tell("warn", "Nothing to undo.");
    return;
  }
  const lease = await desk.api.reopen(last.submission);
  const { lastDone, lease: current } = desk;
  if (current) desk.offer = { ...current, answers: current.answers };
  openLease(desk, lease);
  giveBackHistory(desk, lastDone);
  desk.tell("warn", "Back in the last sentence. Submit it again when it is right.");
}

/** The steps that led to the answers come back too, as long as this page is open. */
function giveBackHistory(desk, lastDone) {
  if (lastDone?.state.ask.id !== desk.askId) return;
  const { history } = lastDone.state;
  if (JSON.stringify(history.doc.values) !== JSON.stringify(desk.state.history.doc.values)) return;
  desk.journal.start(desk.askId, { doc: history.past[0] ?? history.doc, known: 0, seconds: 0 });
  desk.records = [...lastDone.records];
  desk.records.forEach((record, n) => desk.journal.append(desk.askId, n, record));
  desk.state = { ...desk.state, history };
  desk.tell("change");
}

/** The lease is gone: go on if the ask can be had again, else say so and show both versions. */
export async function regain(desk, { yours, current = {} }) {
  const lost = { state: desk.state, records: desk.records };
  const lease = await retrying(desk, () => desk.api.next());
  if (lease && lease.ask.id === lost.state.ask.id) {
    desk.lease = lease;
    desk.drafts.attach(lease, lease.draft_version);
    desk.enter(PHASE.working);
    desk.saveSoon();
    return true;
  }
  desk.tell("lost", { state: lost.state, yours, current, next: lease });
  return false;
}

/** After an answer was refused: back to the sentence, with what is wrong. */
export async function takeBack(desk, { error, left }) {
  if (left) {
    Object.assign(desk, { state: left.state, lease: left.lease, records: left.records });
    desk.drafts.attach(left.lease, left.version);
    desk.present(PHASE.working);
  }
  if (error.code === "lease_lost" && left) {
    await regain(desk, error.details);
  } else if (error.code === "invalid") {
    desk.tell("problems", problemsIn(error.fields));
  } else {
    desk.tell("warn", error.message);
    if (!left) await takeNext(desk);
  }
}

function problemsIn(fields) {
  return Object.entries(fields).flatMap(([path, messages]) =>
    messages.map((message) => ({ task: path.split(".")[0], message, at: null })),
  );
}
