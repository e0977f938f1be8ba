// Rules of a treebank that the answers break as they stand: asked of the server shortly after each
// change, listed under the sentence, each with the word that it is about. They only warn.
import { element, toggle } from "../dom.js";
import { answersIn } from "../model/state.js";
import { Refused, Unreachable } from "../sync/api.js";
import { t, tn } from "../words.js";

const DELAY = 700; // milliseconds after an action
const MOST_SHOWN = 6;

export class Rules {
  #timer = null;
  #asked = null; // the document that was asked about last

  /** on: {go(finding)}; the cursor keeps the focus. */
  constructor(root, session, on) {
    Object.assign(this, { root, session, on });
    root.addEventListener("mousedown", (event) => event.preventDefault());
  }

  /** Ask again where the answers changed, and show what is known. */
  update() {
    const { state, lease } = this.session;
    const doc = state?.history.doc ?? null;
    if (doc !== this.#asked) {
      this.#asked = doc;
      clearTimeout(this.#timer);
      if (doc && lease) this.#timer = setTimeout(() => void this.#ask(doc, lease), DELAY);
    }
    this.#render(state?.findings ?? []);
  }

  async #ask(doc, lease) {
    const { session } = this;
    try {
      const { findings } = await session.api.findings(lease.id, answersIn(session.state));
      if (session.state?.history.doc !== doc) return;
      session.state = { ...session.state, findings };
      session.tell("change");
    } catch (error) {
      if (!(error instanceof Unreachable || error instanceof Refused)) throw error;
    }
  }

  #render(findings) {
    const key = JSON.stringify(findings);
    if (key === this.shown) return;
    this.shown = key;
    toggle(this.root, "hidden", !findings.length);
    const title = tn("{n} rule of Universal Dependencies", "{n} rules of Universal Dependencies", findings.length);
    const rows = findings.slice(0, MOST_SHOWN).map((finding) => this.#row(finding));
    if (findings.length > MOST_SHOWN) rows.push(element("span", { class: "small muted" }, "…"));
    this.root.replaceChildren(element("p", { class: "small muted" }, title), ...rows);
  }

  #row(finding) {
    const sign = finding.level === "error" ? t("error") : t("warning");
    const node = element("button", { type: "button", class: "rule", "data-level": finding.level });
    node.append(element("b", {}, sign), " ", finding.message);
    node.addEventListener("click", () => this.on.go(finding));
    return node;
  }
}
