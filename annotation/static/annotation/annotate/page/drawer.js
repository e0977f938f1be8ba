// Drawers beside the sentence: one's own answers (F8), and the text around the sentence (F9).
import { element, keyCap, put, toggle } from "../dom.js";
import { baseDirection } from "../geometry/bidi.js";
import { drawAnswers, joinItems, tieItems } from "../model/items.js";
import { Refused, Unreachable } from "../sync/api.js";
import { t } from "../words.js";

const PAUSE = 250; // milliseconds after the last letter of a search
const SWIPE = 80;
const STATES = () => ({
  yours: t("yours"),
  gold: t("gold"),
  asked: t("asked, open"),
});
const FILTERS = {
  all: () => true,
  answered: ({ submission }) => submission !== null,
  skipped: ({ submission }) => submission === null,
  flagged: ({ flags }) => flags.length > 0,
  changed: ({ n_changes: n }) => n > 0,
  noted: ({ note }) => note !== "",
};
const FILTER_WORDS = () => ({
  all: t("All"),
  answered: t("Answered"),
  skipped: t("Skipped"),
  flagged: t("Flagged"),
  changed: t("Changed"),
  noted: t("With a note"),
});

export class Drawer {
  /** on: {open(row), closed()}: a row of the history was chosen; the drawer was closed. */
  constructor(root, session, on) {
    Object.assign(this, { root, session, on });
    this.filter = "all";
    this.search = "";
    root.addEventListener("keydown", (event) => this.#key(event));
    root.addEventListener("keyup", (event) => {
      if (event.key === " " && event.target.matches(".history-row")) event.preventDefault(); // looks only
    });
    this.#listenToSwipe();
  }

  get isOpen() {
    return !this.root.hidden;
  }

  /** Open one drawer, or close it where it is open. */
  async show(name) {
    if (this.isOpen && this.name === name) return this.close();
    this.name = name;
    toggle(this.root, "hidden", false);
    document.body.dataset.drawer = name;
    this.session.clock.hold(true);
    this.root.replaceChildren(this.#head(t("Loading…")));
    try {
      await (name === "history" ? this.#showHistory() : this.#showDocument());
    } catch (error) {
      if (!(error instanceof Unreachable || error instanceof Refused)) throw error;
      const words = error instanceof Refused ? error.message : t("This opens only online.");
      this.root.replaceChildren(this.#head(name === "history" ? t("Your answers") : t("Document")));
      this.root.append(element("p", { class: "body muted" }, words));
    }
  }

  close() {
    if (!this.isOpen) return;
    toggle(this.root, "hidden", true);
    delete document.body.dataset.drawer;
    this.session.clock.hold(false);
    this.on.closed();
  }

  #head(title, ...more) {
    const close = element("button", { type: "button", class: "button quiet square" }, "✕");
    put(close, "aria-label", t("Close"));
    close.addEventListener("click", () => this.close());
    const heading = element("h2", { id: "drawer-title", tabindex: "-1" }, title);
    return element("header", { class: "drawer-head" }, heading, ...more, close);
  }

  // Own answers

  async #showHistory() {
    const input = element("input", {
      type: "search",
      placeholder: t("Words, a label, or a remark"),
      "aria-label": t("Search in your answers"),
    });
    input.value = this.search;
    this.input = input;
    this.chips = element("div", { class: "drawer-filters", role: "group", "aria-label": t("Show") });
    this.list = element("div", { class: "drawer-list" });
    this.foot = element(
      "footer",
      { class: "drawer-foot small muted" },
      element("span", {}, keyCap("↑"), keyCap("↓"), ` ${t("walk")}`),
      element("span", {}, keyCap("↵"), ` ${t("open")}`),
      element("span", {}, keyCap("Space"), ` ${t("look")}`),
      element("span", {}, keyCap("Esc"), ` ${t("back")}`),
      element("span", { class: "push" }, keyCap("F9"), ` ${t("Document")}`),
    );
    let timer = null;
    input.addEventListener("input", () => {
      clearTimeout(timer);
      this.search = input.value.trim();
      timer = setTimeout(() => this.#load(), PAUSE);
    });
    this.root.replaceChildren(
      this.#head(t("Your answers")),
      element("div", { class: "drawer-search" }, input, this.chips),
      this.list,
      this.foot,
    );
    await this.#load();
    if (!this.isOpen) return;
    (this.list.querySelector(".history-row") ?? input).focus({ preventScroll: true });
  }

  async #load() {
    const { results, next } = await this.session.api.history({ search: this.search });
    this.rows = results;
    this.next = next;
    this.#drawRows();
  }

  async #loadMore() {
    const page = await this.session.api.history({ search: this.search, cursor: this.next });
    this.rows = [...this.rows, ...page.results];
    this.next = page.next;
    this.#drawRows();
  }

  #drawRows() {
    const words = FILTER_WORDS();
    const chips = Object.entries(FILTERS).map(([name, fits]) => {
      const n = this.rows.filter(fits).length;
      const chip = element("button", { type: "button", class: "drawer-filter" }, `${words[name]} `);
      chip.append(element("b", {}, `${n}${this.next ? "+" : ""}`));
      put(chip, "aria-pressed", String(this.filter === name));
      chip.addEventListener("click", () => {
        this.filter = name;
        this.#drawRows();
      });
      return chip;
    });
    this.chips.replaceChildren(...chips);
    const shown = this.rows.filter(FILTERS[this.filter]);
    const nodes = [];
    let day = "";
    for (const row of shown) {
      const its = dayOf(row.submitted_at);
      if (its !== day) nodes.push(element("h3", {}, its));
      day = its;
      nodes.push(this.#row(row));
    }
    if (!shown.length) nodes.push(element("p", { class: "body muted" }, nothingFound(this)));
    if (this.next) {
      const more = element("button", { type: "button", class: "button slim" }, t("Older answers"));
      more.addEventListener("click", () => this.#loadMore());
      nodes.push(element("p", { class: "body" }, more));
    }
    this.list.replaceChildren(...nodes);
  }

  #row(row) {
    const node = element("button", { type: "button", class: "history-row" });
    const isHere = row.lease === this.session.lease?.id;
    toggle(node, "data-here", isHere);
    const text = element("span", { class: "history-text" }, ...marked(row.sentence.text, this.search));
    put(text, "dir", baseDirection(row.sentence.text.split(/\s+/)));
    const body = element("span", { class: "history-body" }, text, element("span", { class: "small muted" }, ...facts(row)));
    for (const words of remarks(row)) {
      body.append(element("span", { class: "small history-remark", dir: "auto" }, ...marked(words, this.search)));
    }
    node.append(element("time", { class: "small faint number" }, timeOf(row.submitted_at)), body);
    if (!row.can_reopen) put(node, "title", t("A curator has decided: it can no longer be changed. Flag it instead."));
    put(node, "aria-disabled", row.can_reopen ? null : "true");
    node.addEventListener("click", () => (row.can_reopen ? this.on.open(row) : void this.#look(row, item)));
    const item = element("div", { class: "history-item" }, node);
    if (row.submission === null) return item;
    const look = element("button", { type: "button", class: "button quiet slim history-look" }, t("Look"));
    put(look, "aria-expanded", "false");
    look.addEventListener("click", () => void this.#look(row, item));
    item.append(look);
    return item;
  }

  /** Show the answers of a row below it without taking them up, or put them away again. */
  async #look(row, item) {
    const shown = item.querySelector(".history-look-at");
    const isOpening = !shown && row.submission !== null;
    if (shown) shown.remove();
    put(item.querySelector(".history-look"), "aria-expanded", String(isOpening));
    if (!isOpening) return;
    const box = element("div", { class: "history-look-at" });
    item.append(box);
    const { sentence, answers, context } = await this.session.api.answers(row.submission);
    const { tasks } = this.session.project;
    const drawn = element("tandem-sentence", { readonly: true, "aria-label": t("Your answers") });
    box.append(drawn);
    const items = joinItems(drawAnswers(tasks, answers, "own"), drawAnswers(tasks, context, "given"));
    drawn.show({ sentence, items: tieItems(tasks, items) });
    box.scrollIntoView({ block: "nearest" });
  }

  // The text around

  async #showDocument() {
    const { state } = this.session;
    if (!state) return this.close();
    const here = state.sentence.id;
    const found = await this.session.api.document(here);
    const title = found.is_document ? found.title : t("Before and after");
    const words = STATES();
    const legend = element("p", { class: "drawer-legend small muted" });
    for (const name of Object.keys(words)) {
      if (!found.sentences.some((sentence) => sentence.state === name)) continue;
      legend.append(element("span", { "data-state": name }, words[name]));
    }
    const text = element("div", { class: "document-text" });
    for (const sentence of found.sentences) {
      const node = element("span", { class: "document-sentence" }, sentence.text);
      put(node, "data-state", sentence.state || null);
      put(node, "dir", baseDirection(sentence.text.split(/\s+/), state.sentence.language));
      if (sentence.id === here) put(node, "aria-current", "true");
      text.append(node, " ");
    }
    const place = t("Sentence {n} of {all}.", { n: found.number, all: found.n_sentences });
    const order = found.is_document ? "" : ` ${t("In the order of the file: it names no document.")}`;
    this.root.replaceChildren(
      this.#head(title),
      legend,
      element("div", { class: "drawer-list" }, text, element("p", { class: "body small muted" }, place + order)),
    );
    if (!this.isOpen) return;
    this.root.querySelector("h2").focus({ preventScroll: true });
    text.querySelector("[aria-current]")?.scrollIntoView({ block: "center" });
  }

  #key(event) {
    const rows = [...this.root.querySelectorAll(".history-row")];
    const at = rows.indexOf(document.activeElement);
    const go = (i) => rows[Math.max(0, Math.min(rows.length - 1, i))]?.focus();
    const isTyping = event.target.matches("input");
    const act = {
      Escape: () => this.close(),
      F8: () => this.show("history"),
      F9: () => this.show("document"),
      ArrowDown: () => go(at + 1),
      ArrowUp: () => (at === 0 ? this.input?.focus() : go(at - 1)),
      Home: () => !isTyping && go(0),
      End: () => !isTyping && go(rows.length - 1),
      " ": () => at >= 0 && rows[at].parentElement.querySelector(".history-look")?.click(),
      "/": () => !isTyping && this.input?.focus(),
    }[event.key];
    event.stopPropagation();
    if (!act || event.ctrlKey || event.metaKey || act() === false) return;
    event.preventDefault();
  }

  /** On a phone the drawer covers the page; a finger that goes down closes it. */
  #listenToSwipe() {
    let from = null;
    this.root.addEventListener("touchstart", ({ touches, target }) => {
      from = target.closest(".drawer-head") ? touches[0].clientY : null;
    }, { passive: true });
    this.root.addEventListener("touchend", ({ changedTouches }) => {
      if (from !== null && changedTouches[0].clientY - from > SWIPE) this.close();
    });
  }
}

/** What was answered, in a few words. */
function facts(row) {
  const parts = Object.entries(row.answers).map(([task, { n, labels }]) =>
    n === 1 && labels.length ? `${task}: ${labels[0]}` : `${task} ${n}`,
  );
  if (row.seconds) parts.push(clock(row.seconds));
  const badges = [];
  if (row.is_gold) badges.push(badge(t("gold"), "good"));
  if (row.n_changes) badges.push(badge(t("changed"), "guess"));
  if (row.state === "skipped") badges.push(badge(t("skipped"), ""));
  if (row.state === "later") badges.push(badge(t("left for later"), ""));
  if (row.flags.length) badges.push(badge(row.flags.some(({ answer }) => answer) ? `⚑ ${t("answered")}` : "⚑", "warn"));
  return [...badges.flatMap((node) => [node, " "]), parts.join(" · ")];
}

function remarks(row) {
  return [
    ...(row.reason ? [t("reason: {words}", { words: row.reason })] : []),
    ...(row.note ? [t("note: {words}", { words: row.note })] : []),
    ...row.flags.flatMap(({ comment, answer }) => [`⚑ ${comment}`, ...(answer ? [`→ ${answer}`] : [])]),
  ];
}

function badge(text, look) {
  return element("span", { class: `badge ${look}` }, text);
}

/** A text with the searched words marked. */
function marked(text, search) {
  const at = search ? text.toLowerCase().indexOf(search.toLowerCase()) : -1;
  if (at < 0) return [text];
  const end = at + search.length;
  return [text.slice(0, at), element("mark", {}, text.slice(at, end)), text.slice(end)];
}

function nothingFound({ search, filter }) {
  if (search) return t("Nothing fits ‘{words}’.", { words: search });
  if (filter !== "all") return t("Nothing of this kind yet.");
  return t("Nothing yet. Your answers appear here as soon as they are saved.");
}

function dayOf(iso) {
  const day = new Date(iso);
  return day.toDateString() === new Date().toDateString()
    ? t("Today")
    : day.toLocaleDateString(document.documentElement.lang, { weekday: "long", day: "numeric", month: "long" });
}

function timeOf(iso) {
  return new Date(iso).toLocaleTimeString([], { hour12: false, hour: "2-digit", minute: "2-digit" });
}

function clock(seconds) {
  return `${Math.floor(seconds / 60)}:${String(Math.round(seconds) % 60).padStart(2, "0")}`;
}
