// Asks the server how far a job is until it has ended, then shows the page of the result.
import { t } from "./annotate/words.js";
const card = document.querySelector("[data-job]");
const words = card.querySelector("[data-words]");
const bar = card.querySelector("[data-bar]");
const noWorker = document.querySelector("[data-no-worker]");
const EVERY = 1000;
const FEW = 100; // steps that are told one by one

function show(job) {
  noWorker.hidden = job.is_worker_alive;
  if (job.state === "queued") {
    words.textContent = job.waits || t("Waiting for a free worker.");
    return;
  }
  const stage = job.stage || t("starting");
  const share = !job.n_total
    ? ""
    : job.n_total < FEW
      ? `, ${t("{n} of {all}", { n: job.n_done, all: job.n_total })}`
      : `, ${Math.floor((100 * job.n_done) / job.n_total)} %`;
  words.textContent = `${stage[0].toUpperCase()}${stage.slice(1)}${share}.`;
  if (job.n_total) {
    bar.max = job.n_total;
    bar.value = job.n_done;
  }
}

async function ask() {
  let wait = EVERY;
  try {
    const response = await fetch(card.dataset.job);
    if (!response.ok) throw new Error(`status ${response.status}`);
    const job = await response.json();
    if (!job.is_open) return location.reload();
    show(job);
  } catch {
    words.textContent = t("The server does not answer. Trying again.");
    wait = 5 * EVERY;
  }
  setTimeout(ask, wait);
}

ask();
