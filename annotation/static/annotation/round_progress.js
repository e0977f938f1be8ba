// Follows a round until it has ended or asks for labels, then shows the page of the result.
import { t } from "./annotate/words.js";
const card = document.querySelector("[data-round]");
const words = card.querySelector("[data-words]");
const bar = card.querySelector("[data-bar]");
const state = document.querySelector("[data-state]");
const worker = document.querySelector("[data-worker]");
const stages = [...card.querySelectorAll("[data-stage]")];
const EVERY = 1500;
let started = null;

/** The name of a state as people read it. */
function stateWords(name) {
  const words = { queued: t("queued"), training: t("training"), scoring: t("scoring"), selecting: t("selecting"), labelling: t("labelling") };
  return words[name] ?? name;
}

function timeLeft(progress) {
  if (!progress.n_total || !progress.n_done) return "";
  if (!started || started.stage !== progress.stage || progress.n_done < started.n) {
    started = { stage: progress.stage, n: progress.n_done, at: Date.now() };
    return "";
  }
  const pace = (progress.n_done - started.n) / (Date.now() - started.at);
  if (!(pace > 0)) return "";
  const seconds = (progress.n_total - progress.n_done) / pace / 1000;
  return seconds < 90 ? t(", about {n} s left", { n: Math.ceil(seconds) }) : t(", about {n} min left", { n: Math.ceil(seconds / 60) });
}

function show(round) {
  const now = stages.findIndex((stage) => stage.dataset.stage === round.state);
  stages.forEach((stage, i) => {
    stage.classList.toggle("past", i < now);
    if (i === now) stage.setAttribute("aria-current", "step");
    else stage.removeAttribute("aria-current");
  });
  state.textContent = stateWords(round.state);
  if (worker) worker.textContent = round.worker || t("waiting");
  const progress = round.progress ?? {};
  if (round.state === "queued") {
    words.textContent = progress.waits || t("Waiting for a free worker.");
    return;
  }
  const stage = progress.stage || stateWords(round.state);
  const count = progress.n_total ? `: ${progress.n_done} / ${progress.n_total}${timeLeft(progress)}` : "";
  words.textContent = `${stage[0].toUpperCase()}${stage.slice(1)}${count}.`;
  if (progress.n_total) {
    bar.max = progress.n_total;
    bar.value = progress.n_done;
  } else {
    bar.removeAttribute("value");
  }
}

async function ask() {
  let wait = EVERY;
  try {
    const response = await fetch(card.dataset.round);
    if (!response.ok) throw new Error(`status ${response.status}`);
    const round = await response.json();
    if (!["queued", "training", "scoring", "selecting"].includes(round.state)) return location.reload();
    show(round);
  } catch {
    words.textContent = t("The server does not answer. Trying again.");
    wait = 3 * EVERY;
  }
  setTimeout(ask, wait);
}

ask();
