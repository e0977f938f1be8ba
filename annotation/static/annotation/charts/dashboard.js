// The charts of a project's overview, drawn from one answer of the server.
import { driftBars, driftRows } from "./bars.js";
import { calibrationPlot, calibrationRows, calibrationWords, mostInBin } from "./calibration.js";
import { curveRows, learningCurve, spanOf } from "./curve.js";
import { downloadButtons } from "./download.js";
import { poolMap, poolRows } from "./scatter.js";
import { t } from "../annotate/words.js";

const board = document.querySelector("[data-dashboard]");

function make(tag, className, words) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (words !== undefined) made.textContent = words;
  return made;
}

function place(name) {
  return board.querySelector(`[data-chart="${name}"]`);
}

function svgsIn(card) {
  return [...card.querySelectorAll("svg.chart")];
}

function showCurves(curves) {
  const card = place("curves");
  const drawn = curves.filter((curve) => curve.chosen.length);
  if (!drawn.length) return card.remove();
  const grid = card.querySelector("[data-body]");
  showLegend(card.querySelector("[data-legend]"), drawn);
  const height = Math.max(...drawn.map(spanOf));
  for (const curve of drawn) {
    const figure = make("figure", "curve");
    const caption = make("figcaption", "", curve.task);
    caption.append(make("span", "small faint", ` ${curve.metric}`));
    figure.append(caption, make("p", "small forecast-words", curve.forecast?.words ?? ""), learningCurve(curve, height));
    grid.append(figure);
  }
  const rows = () => drawn.flatMap((curve) => [[curve.task], ...curveRows(curve)]);
  card.querySelector("header").append(downloadButtons("learning-curves", () => svgsIn(card), rows));
}

/** Name only what is drawn. */
function showLegend(legend, curves) {
  const words = { "": t("chosen, 95 % interval") };
  if (curves.some((curve) => curve.control.length)) words.control = t("random control");
  if (curves.some((curve) => (curve.forecast?.curve ?? []).length > 1)) words.forecast = t("forecast");
  if (curves.some((curve) => curve.target !== null)) words.target = t("target");
  legend.replaceChildren(...Object.entries(words).map(([name, text]) => make("span", name, text)));
}

function showPool(pool) {
  const card = place("pool");
  if (!pool || pool.tasks.length < 1) return card.remove();
  const body = card.querySelector("[data-body]");
  const pick = choosers(pool.tasks);
  const draw = () => {
    body.replaceChildren(pick.box, poolMap(pool, pick.first(), pick.second(), board.dataset.sentences));
  };
  pick.box.addEventListener("change", draw);
  draw();
  card.querySelector("header").append(downloadButtons("pool", () => svgsIn(card), () => poolRows(pool)));
}

function choosers(tasks) {
  const box = make("div", "row small");
  const selects = [0, Math.min(1, tasks.length - 1)].map((chosen, i) => {
    const select = make("select");
    const label = make("label", "row small", i ? t("upwards") : t("across"));
    tasks.forEach((task, j) => {
      const option = make("option", "", task);
      option.value = j;
      option.selected = j === chosen;
      select.append(option);
    });
    label.append(select);
    box.append(label);
    return select;
  });
  return { box, first: () => Number(selects[0].value), second: () => Number(selects[1].value) };
}

function showCalibration(byTask) {
  const card = place("calibration");
  const tasks = Object.keys(byTask);
  if (!tasks.length) return card.remove();
  const body = card.querySelector("[data-body]");
  const select = make("select");
  select.setAttribute("aria-label", t("task"));
  for (const task of tasks) select.append(make("option", "", task));
  const words = make("p", "small muted");
  const legend = make("p", "legend");
  const draw = () => {
    const data = byTask[select.value];
    words.textContent = `${calibrationWords(data)} ${t("Columns: sentences per bin, at most {n}.", { n: mostInBin(data) })}`;
    const names = [["control", t("as it comes out of the model")]];
    if (data.temperature) names.push(["", t("corrected")]);
    legend.replaceChildren(...names.map(([name, text]) => make("span", name, text)));
    body.replaceChildren(select, calibrationPlot(select.value, data), legend, words);
  };
  select.addEventListener("change", draw);
  draw();
  card.querySelector("header").append(
    downloadButtons("calibration", () => svgsIn(card), () => calibrationRows(byTask[select.value])),
  );
}

function showDrift(drift) {
  const card = place("drift");
  if (!drift.length) return card.remove();
  const body = card.querySelector("[data-body]");
  for (const { task, labels } of drift) {
    const figure = make("figure", "curve");
    figure.append(make("figcaption", "small", task), driftBars(labels));
    body.append(figure);
  }
  const rows = () => drift.flatMap(({ task, labels }) => [[task], ...driftRows(labels)]);
  card.querySelector("header").append(downloadButtons("label-drift", () => svgsIn(card), rows));
}

async function show() {
  const status = board.querySelector("[data-status]");
  try {
    const response = await fetch(board.dataset.dashboard);
    if (!response.ok) throw new Error(`status ${response.status}`);
    const data = await response.json();
    showCurves(data.curves);
    showPool(data.pool);
    showCalibration(data.calibration);
    showDrift(data.drift);
    status.remove();
    board.dataset.ready = "yes";
  } catch (error) {
    status.textContent = t("The charts could not be loaded: {error}. Reload the page to try again.", { error: error.message });
  }
}

show();
