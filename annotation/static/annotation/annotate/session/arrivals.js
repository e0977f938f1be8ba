// Asks arrive: taken from the queue, shown ahead of their lease, or brought back from a journal.
import { documentOf, openState, restoreState } from "../model/state.js";
import { Refused, Unreachable } from "../sync/api.js";
import { retrying } from "../sync/connection.js";
import { PHASE } from "./session.js";

/** Take the next ask; where one is shown ahead already and it is the same, work goes on. */
export async function takeNext(session) {
  const lease = await retrying(session.connection, () => session.api.next());
  if (session.phase === PHASE.locked) return; // another tab took over in between
  const isAhead = session.phase === PHASE.ahead && session.records.length > 0;
  const kept = isAhead && session.askId !== lease?.ask.id ? keptBack(session, lease) : null;
  if (lease === null) {
    session.lease = null;
    session.state = null;
    session.enter(PHASE.empty);
    if (kept) session.tell("lost", kept);
    return;
  }
  session.counts = lease.counts;
  if (isShownAhead(session, lease)) {
    adoptLease(session, lease);
  } else {
    openLease(session, lease);
    if (kept) session.tell("lost", kept);
  }
  void recall(session, lease.ask.id); // nobody waits for these: the sentence is here
  void lookAhead(session);
}

/** Work that was done ahead on a sentence which is not given to this person now: nothing of it goes
 *  away in silence. */
function keptBack(session, next) {
  const { state } = session;
  return { state, yours: documentOf(state).values, current: {}, next, wasAhead: true };
}

/** Show the ask that will most likely come next, before it is leased; false if none is known. */
export function showAhead(session) {
  const { offer } = session;
  session.offer = null;
  if (!offer || session.outbox.waiting.some(({ ask }) => ask === offer.ask.id)) return false;
  session.lease = null;
  session.drafts.attach(null, 0);
  restore(session, openState(session.project, offer), 0);
  session.state = { ...session.state, hints: remembered.get(session.askId) ?? {} };
  session.present(PHASE.ahead);
  return true;
}

/** Work on a lease from its draft, or from the journal of this browser where that knows more. */
export function openLease(session, lease) {
  const state = openState(session.project, lease);
  const draft = isDraftOf(state, lease.draft) ? lease.draft : null;
  const local = journalOf(session, state);
  session.lease = lease;
  session.drafts.attach(lease, lease.draft_version);
  restore(session, state, lease.draft_version, draft);
  session.present(PHASE.working);
  if (lease.draft_saved_at) session.connection.saved(lease.draft_saved_at);
  if (draft && local?.records.length && local.known < lease.draft_version) {
    const mine = documentOf(restoreState(state, local.doc, actionsOf(local)));
    if (!sameJson(mine.values, draft.doc.values))
      session.tell("stale", { mine, other: draft.doc, at: lease.draft_saved_at });
  } else if (local?.records.length) {
    session.saveSoon();
  }
}

/** Keep what was done ahead, now with a lease. */
export function adoptLease(session, lease) {
  session.lease = lease;
  session.drafts.attach(lease, lease.draft_version);
  session.enter(PHASE.working);
  if (session.records.length) session.saveSoon();
}

/** Ask for the sentence after this one, so that it can be shown at once. */
export async function lookAhead(session) {
  try {
    session.offer = await session.api.peek();
    if (session.offer) await recall(session, session.offer.ask.id);
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
  }
}

const remembered = new Map(); // ask -> what earlier answers say of it, or that nothing came

/** Ask what earlier answers say of an ask, and show it where that ask is open. What was told before its
 *  lease came is asked again with the lease: the last answer counts by then. */
async function recall(session, ask) {
  try {
    remembered.set(ask, (await session.api.hints(ask)).hints);
  } catch (error) {
    if (!(error instanceof Unreachable || error instanceof Refused)) throw error;
  }
  if (session.askId === ask) showHints(session);
}

function showHints(session) {
  const hints = remembered.get(session.askId);
  if (!hints || sameJson(hints, session.state.hints)) return;
  session.state = { ...session.state, hints };
  session.tell("change");
}

function isShownAhead(session, lease) {
  const isSame = wordsOf(session.state?.sentence) === wordsOf(lease.sentence); // else corrected
  const hasMore = !isSame || lease.context || lease.draft || Object.keys(lease.answers).length;
  return session.phase === PHASE.ahead && session.askId === lease.ask.id && !hasMore;
}

/** Bring back the journal of an ask where it is newer than the draft, else start a new one. */
function restore(session, state, version, draft = null) {
  const ask = state.ask.id;
  const local = journalOf(session, state);
  if (local && local.known >= version) {
    session.records = local.records;
    session.state = restoreState(state, local.doc, actionsOf(local));
    session.clock.reset(local.seconds);
    return;
  }
  const doc = draft?.doc ?? documentOf(state);
  const seconds = draft?.seconds ?? 0;
  session.journal.start(ask, { doc, known: version, seconds, words: wordsOf(state.sentence) });
  session.records = [];
  session.state = restoreState(state, doc, []);
  session.clock.reset(seconds);
}

/** The journal of an ask, unless its words were corrected since. */
function journalOf(session, { ask, sentence }) {
  const local = session.journal.read(ask.id);
  return (local?.words ?? wordsOf(sentence)) === wordsOf(sentence) ? local : null;
}

function wordsOf(sentence) {
  return sentence?.tokens.join("\n") ?? "";
}

function actionsOf({ records }) {
  return records.map(({ action }) => action);
}

/** Whether a draft was made by this page, for these tasks. */
function isDraftOf(state, draft) {
  const values = draft?.doc?.values;
  return Boolean(values) && state.wanted.every((name) => name in values);
}

function sameJson(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
