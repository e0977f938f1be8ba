// Builds gold from decisions: what all agree on stays, each difference is chosen or left out.
const { tokens, cases } = JSON.parse(document.getElementById("decisions").textContent);
const form = document.querySelector("[data-adjudicate]");
const count = form.querySelector("[data-count]");
const edited = new Map(); // task -> textarea

function make(tag, className, words) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (words !== undefined) made.textContent = words;
  return made;
}

const PER_TOKEN = new Set(["tree", "tags"]);

function itemsOf(kind, value) {
  if (kind === "classes") return [[value]];
  if (kind === "tags") return value.map((label, i) => [i, label]);
  if (kind === "tree") return value.map((arc, i) => [i, ...arc]);
  return value;
}

function words(kind, item) {
  const text = (start, end) => tokens.slice(start, end).join(" ");
  if (kind === "classes") return item[0];
  if (kind === "tags") return item[1];
  if (kind === "tree") return item[1] === 0 ? `root, ${item[2]}` : `${tokens[item[1] - 1]} → ${tokens[item[0]]}, ${item[2]}`;
  if (kind === "spans") return `${item[2]}: ${text(item[0], item[1])}`;
  return `${text(item[0], item[1])} → ${text(item[2], item[3])}, ${item[4]}`;
}

// Differences that exclude each other stand in one group: the arcs of a token, the classes.
function groupsOf(task) {
  const groups = new Map();
  task.differences.forEach((difference, i) => {
    let key = `item-${i}`;
    if (task.kind === "classes") key = "class";
    else if (PER_TOKEN.has(task.kind)) key = `token-${difference.item[0]}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(difference);
  });
  return [...groups.entries()];
}

function groupTitle(task, differences) {
  if (task.kind === "classes") return "whole sentence";
  if (PER_TOKEN.has(task.kind)) return tokens[differences[0].item[0]];
  return words(task.kind, differences[0].item);
}

function choice(name, value, text, who) {
  const label = make("label", "choice");
  const radio = make("input");
  radio.type = "radio";
  radio.name = name;
  radio.value = value;
  label.append(radio, make("span", "", text), make("span", "small faint", who));
  return label;
}

function draw(task) {
  const card = form.querySelector(`[data-case="${CSS.escape(task.task)}"]`);
  const box = card.querySelector("[data-decisions]");
  groupsOf(task).forEach(([key, differences]) => {
    const name = `${task.task}/${key}`;
    const field = make("fieldset", "decision");
    field.append(make("legend", "", groupTitle(task, differences)));
    const choices = make("div", "choices");
    const isChoice = task.kind === "classes" || PER_TOKEN.has(task.kind);
    differences.forEach((difference) => {
      const at = task.differences.indexOf(difference);
      choices.append(choice(name, at, isChoice ? words(task.kind, difference.item) : "keep it", difference.people.join(", ")));
    });
    if (!isChoice) {
      const others = Object.keys(task.answers).filter((person) => !differences[0].people.includes(person));
      choices.append(choice(name, "none", "not there", others.join(", ")));
    }
    field.append(choices);
    box.append(field);
  });
  for (const button of card.querySelectorAll("[data-all-from]")) {
    button.addEventListener("click", () => takeAll(task, button.dataset.allFrom));
  }
  card.querySelector("[data-edit]").addEventListener("click", () => edit(task, card));
}

function takeAll(task, person) {
  for (const [key, differences] of groupsOf(task)) {
    const own = differences.find((difference) => difference.people.includes(person));
    const value = own ? task.differences.indexOf(own) : "none";
    const radio = form.querySelector(`input[name="${CSS.escape(`${task.task}/${key}`)}"][value="${value}"]`);
    if (radio) radio.checked = true;
  }
  showCount();
}

function edit(task, card) {
  const label = card.querySelector("[data-values]");
  const area = label.querySelector("textarea");
  label.hidden = false;
  area.value = JSON.stringify(gold(task) ?? Object.values(task.answers)[0]);
  edited.set(task.task, area);
  area.focus();
  showCount();
}

// The answer that the decisions make, or null while one is missing.
function gold(task) {
  const chosen = [];
  for (const [key] of groupsOf(task)) {
    const radio = form.querySelector(`input[name="${CSS.escape(`${task.task}/${key}`)}"]:checked`);
    if (!radio) return null;
    if (radio.value !== "none") chosen.push(task.differences[Number(radio.value)].item);
  }
  if (task.kind === "classes") return chosen[0][0];
  const apart = new Set(task.differences.map((difference) => JSON.stringify(difference.item)));
  const common = itemsOf(task.kind, Object.values(task.answers)[0]).filter((item) => !apart.has(JSON.stringify(item)));
  const all = [...common, ...chosen];
  if (!PER_TOKEN.has(task.kind)) return all;
  all.sort((a, b) => a[0] - b[0]);
  return all.map((item) => (task.kind === "tags" ? item[1] : item.slice(1)));
}

function showCount() {
  const groups = cases.flatMap((task) => (edited.has(task.task) ? [] : groupsOf(task).map(([key]) => `${task.task}/${key}`)));
  const decided = groups.filter((name) => form.querySelector(`input[name="${CSS.escape(name)}"]:checked`));
  count.textContent = `${decided.length} of ${groups.length} decided`;
}

function collect() {
  const answers = {};
  for (const task of cases) {
    const area = edited.get(task.task);
    const value = area ? JSON.parse(area.value) : gold(task);
    if (value !== null) answers[task.task] = value;
  }
  return answers;
}

form.addEventListener("change", showCount);
form.addEventListener("submit", (event) => {
  try {
    form.elements.answers.value = JSON.stringify(collect());
  } catch (error) {
    event.preventDefault();
    count.textContent = `The edited values are not JSON: ${error.message}`;
  }
});

// Up and down go from difference to difference; left and right choose, as radio buttons do.
form.addEventListener("keydown", (event) => {
  if (event.target.tagName === "TEXTAREA") return;
  if (event.key === "Enter" && event.target.type === "radio") {
    event.preventDefault();
    form.requestSubmit();
  }
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const fields = [...form.querySelectorAll(".decision")];
  const now = fields.indexOf(event.target.closest(".decision"));
  const next = fields[now + (event.key === "ArrowDown" ? 1 : -1)];
  if (!next) return;
  event.preventDefault();
  (next.querySelector("input:checked") ?? next.querySelector("input")).focus();
});

cases.forEach(draw);
showCount();
form.querySelector(".decision input")?.focus();
