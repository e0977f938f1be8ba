// Asks arrive: taken from the queue, shown ahead of their lease, or brought back from a journal.
import { documentOf, openState, restoreState } from "../model/state.js";
import { Unreachable } from "../sync/api.js";
import { PHASE } from "./desk.js";
import { retrying } from "./retrying.js";

/** Take the next ask; where one is shown ahead already and it is the same, hands may go on. */
export async function takeNext(desk) {
  const lease = await retrying(desk, () => desk.api.next());
  if (desk.phase === PHASE.elsewhere) return; // another tab took over in between
  if (lease === null) {
    desk.lease = null;
    desk.state = null;
    desk.enter(PHASE.empty);
    return;
  }
  desk.counts = lease.counts;
  if (isShownAhead(desk, lease)) {
    adoptLease(desk, lease);
  } else {
    const isOther = desk.phase === PHASE.ahead && desk.askId !== lease.ask.id;
    if (isOther && desk.records.length) desk.tell("warn", "Another sentence comes first.");
    openLease(desk, lease);
  }
  await lookAhead(desk);
}

/** Show the ask that will most likely come next, before it is leased; false if none is known. */
export function showAhead(desk) {
  const { offer } = desk;
  desk.offer = null;
  if (!offer || desk.outbox.waiting.some(({ ask }) => ask === offer.ask.id)) return false;
  desk.lease = null;
  desk.drafts.attach(null, 0);
  restore(desk, openState(desk.project, offer), 0);
  desk.present(PHASE.ahead);
  return true;
}

/** Work on a lease from its draft, or from the journal of this browser where that knows more. */
export function openLease(desk, lease) {
  const state = openState(desk.project, lease);
  const draft = isDraftOf(state, lease.draft) ? lease.draft : null;
  const local = desk.journal.read(lease.ask.id);
  desk.lease = lease;
  desk.drafts.attach(lease, lease.draft_version);
  restore(desk, state, lease.draft_version, draft);
  desk.present(PHASE.working);
  if (lease.draft_saved_at) desk.connection.saved(lease.draft_saved_at);
  if (draft && local?.records.length && local.known < lease.draft_version) {
    const mine = documentOf(restoreState(state, local.doc, actionsOf(local)));
    if (!sameValues(mine, draft.doc))
      desk.tell("stale", { mine, other: draft.doc, at: lease.draft_saved_at });
  } else if (local?.records.length) {
    desk.saveSoon();
  }
}

/** Keep what the hands did ahead, now with a lease. */
export function adoptLease(desk, lease) {
  desk.lease = lease;
  desk.drafts.attach(lease, lease.draft_version);
  desk.enter(PHASE.working);
  if (desk.records.length) desk.saveSoon();
}

/** Ask for the sentence after this one, so that it can be shown at once. */
export async function lookAhead(desk) {
  try {
    desk.offer = await desk.api.peek();
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
  }
}

function isShownAhead(desk, lease) {
  const hasMore = lease.context || lease.draft || Object.keys(lease.answers).length;
  return desk.phase === PHASE.ahead && desk.askId === lease.ask.id && !hasMore;
}

/** Bring back the journal of an ask where it is newer than the draft, else start a new one. */
function restore(desk, state, version, draft = null) {
  const ask = state.ask.id;
  const local = desk.journal.read(ask);
  if (local && local.known >= version) {
    desk.records = local.records;
    desk.state = restoreState(state, local.doc, actionsOf(local));
    desk.clock.reset(local.seconds);
    return;
  }
  const doc = draft?.doc ?? documentOf(state);
  const seconds = draft?.seconds ?? 0;
  desk.journal.start(ask, { doc, known: version, seconds });
  desk.records = [];
  desk.state = restoreState(state, doc, []);
  desk.clock.reset(seconds);
}

function actionsOf({ records }) {
  return records.map(({ action }) => action);
}

/** Whether a draft was made by this page, for these tasks. */
function isDraftOf(state, draft) {
  const values = draft?.doc?.values;
  return Boolean(values) && state.wanted.every((name) => name in values);
}

function sameValues(a, b) {
  return JSON.stringify(a.values) === JSON.stringify(b.values);
}
