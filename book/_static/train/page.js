// The page "Train it here": settings, two workers that train, and pictures of what they report.
const SOURCE = document.querySelector("script[data-training]");
const GIVEN = JSON.parse(SOURCE.textContent), FIGURE = document.getElementById(SOURCE.dataset.training);
const CODE = URL.createObjectURL(
  new Blob([document.querySelector("script[data-worker]").textContent], { type: "text/javascript" }),
);
const OWN = "your own CSV file", NONE = "none", QUIET = matchMedia("(prefers-reduced-motion: reduce)");

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// ---- data and metrics
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

function givenData({ names, parts }) {
  const made = { classes: names.length, names };
  for (const [part, { X, y }] of Object.entries(parts)) {
    made[part] = { X: new Float32Array(bytes(X).buffer), y: bytes(y) };
  }
  return made;
}

// Counts (K · K): true class down, predicted class across.
function countsOf(y, labels, K) {
  const counts = Array(K * K).fill(0);
  labels.forEach((label, i) => counts[y[i] * K + label]++);
  return counts;
}

// The metrics of amol/metrics.py from such counts.
function metricsOf(counts, K) {
  const center = Math.floor((K - 1) / 2);
  const sum = (of) => counts.reduce((total, count, i) => total + count * of(Math.floor(i / K), i % K), 0);
  const share = (hit, among) => sum((t, p) => hit(t, p) && among(t)) / sum((t) => among(t));
  const apart = sum(() => 1) * sum((t, p) => (t - p) ** 2);
  const chance = sum(() => 1) * sum((t, p) => t * t + p * p) - 2 * sum((t) => t) * sum((t, p) => p);
  const hedged = share((t, p) => p === center, (t) => t < 2 || t > K - 3);
  return {
    QWK: chance ? (chance - apart) / chance : 0,
    CHR_ext: center < 2 ? NaN : hedged,
    "center recall": share((t, p) => p === center, (t) => t === center),
    "extreme recall": share((t, p) => t === p, (t) => t === 0 || t === K - 1),
  };
}

const written = (value) => (Number.isFinite(value) ? value.toFixed(3).replace("-", "−") : "–");

// ---- pictures
// One curve per run over the epochs, with what they are at last.
function chart(title, curves) {
  const values = curves.flatMap(({ points }) => points.filter(Number.isFinite));
  const rate = !title.startsWith("validation loss"), least = Math.min(...values, ...(rate ? [0] : []));
  const most = Math.max(...values, rate ? 1 : -Infinity), span = most - least || 1;
  const length = Math.max(20, ...curves.map(({ points }) => points.length));
  const paths = curves.map(({ points, side }) => {
    const at = (value, i) => `${(i / (length - 1)) * 200},${100 - ((value - least) / span) * 100}`;
    return `<polyline class="side-${side}" points="${points.map(at).filter((p) => !p.includes("NaN")).join(" ")}"/>`;
  });
  const said = curves.map(({ name, points }) => `${name} ${written(points.at(-1))}`).join(", ");
  const box = make("div", { class: "train-chart", role: "img", "aria-label": `${title} by epoch, at last ${said}` });
  const ends = values.length ? [most, least].map((end) => `<span>${written(end)}</span>`).join("") : "";
  box.innerHTML =
    `<b>${title}</b><div class="train-plot"><div class="train-axis">${ends}</div><svg viewBox="0 -3 200 106"` +
    ` preserveAspectRatio="none">${paths.join("")}</svg></div><div class="train-length">epoch ${length}</div>`;
  return box;
}

function confusion(title, counts, names) {
  const K = names.length, table = make("table", { class: "train-confusion" });
  table.append(make("caption", {}, title));
  const head = make("tr", {}, make("th", { scope: "col" }, "true ↓ said →"));
  head.append(...names.map((name) => make("th", { scope: "col" }, name)));
  const rows = names.map((name, t) => {
    const own = counts.slice(t * K, t * K + K), total = own.reduce((a, b) => a + b) || 1;
    const cells = own.map((count) => make("td", { style: `--share: ${Math.round((45 * count) / total)}%` }, `${count}`));
    return make("tr", {}, make("th", { scope: "row" }, name), ...cells);
  });
  table.append(make("thead", {}, head), make("tbody", {}, ...rows));
  return make("div", { class: "train-scroll", tabindex: 0, role: "group", "aria-label": title }, table);
}

// What a run left, beside the recorded run with the same settings, if there is one.
function verdict({ settings, end, data }) {
  const { loss, alpha, sigma, seed } = settings, used = GIVEN.losses[loss];
  const recorded = GIVEN.runs.find((run) =>
    run.data === settings.data && run.loss === loss && run.seed === seed &&
    (!used.includes("alpha") || alpha === GIVEN.alpha) && (!used.includes("sigma") || sigma === GIVEN.sigma));
  const lines = [`Weights of epoch ${end.bestEpoch} of ${end.epochs}, test part: ` +
    Object.entries(metricsOf(countsOf(data.test.y, end.labels, data.classes), data.classes))
      .map(([name, value]) => `${name} ${written(value)}`).join(", ") + "."];
  if (end.failed) lines.push(`In epoch ${end.failed} the loss stopped being a finite number.`);
  lines.push(make("span", {}, "SHA-256 of the weights here: ", make("code", {}, end.digest || "not available on a page without https")));
  if (!recorded) lines.push("The book has no run with these settings to compare with.");
  else {
    lines.push(make("span", {}, "In the book: ", make("code", {}, recorded.digest)));
    const predicted = bytes(recorded.predicted), differ = {
      "the weights": end.digest && end.digest !== recorded.digest,
      "test predictions": end.labels.some((label, i) => label !== predicted[i]),
      "the best epoch": end.bestEpoch !== recorded.bestEpoch,
      "the number of epochs": end.epochs !== recorded.epochs,
    };
    const found = Object.keys(differ).filter((name) => differ[name]);
    const equal = end.digest ? "Equal, bit for bit: weights and test predictions." : "Test predictions are equal.";
    lines.push(make("strong", {}, found.length ? `Different: ${found.join(", ")}.` : equal));
  }
  return make("div", { class: "train-verdict" }, ...lines.map((line) => make("p", {}, line)));
}

// ---- form
const labeled = (name, input) => make("label", {}, make("span", {}, name), input);
const choice = (...names) => make("select", {}, ...names.map((name) => make("option", { value: name }, name)));
const number = (least, most, step) => make("input", { type: "number", min: least, max: most, step, required: "" });
const names = Object.keys(GIVEN.losses), inputs = {
  data: choice(...Object.keys(GIVEN.sets), OWN), a: choice(...names), b: choice(...names, NONE),
  alpha: number(0, 100, "any"), sigma: number(0.1, 100, "any"), seed: number(0, 2 ** 32 - 1, 1),
};
const START = { data: Object.keys(GIVEN.sets)[0], a: "CE", b: "AMOL", alpha: GIVEN.alpha, sigma: GIVEN.sigma, seed: GIVEN.runs[0].seed };
const file = make("input", { type: "file", accept: ".csv,.tsv,.txt" }), target = make("select");
const ownRow = make("div", { class: "train-own", hidden: "" }, labeled("file", file), labeled("label column", target));
const start = make("button", { type: "submit" }, "Train"), cancel = make("button", { type: "button", disabled: "" }, "Cancel");
const status = make("p", { role: "status" }), shown = make("div", { class: "train-shown" });
const form = make("form", { class: "train-form", "aria-label": "Settings of the training" },
  ...Object.entries({ data: "data set", a: "first loss", b: "second loss", alpha: "strength α", sigma: "width σ", seed: "seed" })
    .map(([name, text]) => labeled(text, inputs[name])), ownRow, make("div", { class: "train-buttons" }, start, cancel));
let table = null, runs = [], waiting = 0;

function fromAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const [name, input] of Object.entries(inputs)) {
    input.value = asked.get(name) ?? START[name];
    if (!input.value || !input.checkValidity()) input.value = START[name];
  }
  ownRow.hidden = inputs.data.value !== OWN;
  return asked.has("data") && inputs.data.value !== OWN;
}

function dataSet() {
  if (inputs.data.value !== OWN) return givenData(GIVEN.sets[inputs.data.value]);
  if (!table) throw new Error("choose a file first");
  return prepareTable(table, target.selectedIndex);
}

async function readFile() {
  try {
    table = readTable(await file.files[0].text());
    target.replaceChildren(...table.heading.map((name) => make("option", {}, name)));
    target.selectedIndex = table.heading.length - 1;
    status.textContent = `${table.rows.length} rows, read in this browser; they stay here.`;
  } catch (error) {
    table = null;
    status.textContent = `The file can't be used: ${error.message}.`;
  }
}

// ---- training
function stop(said) {
  for (const run of runs) run.worker.terminate();
  cancel.disabled = true;
  start.textContent = "Train again";
  status.textContent = said;
}

function begin() {
  stop("");
  let data;
  try {
    data = dataSet();
  } catch (error) {
    return stop(`Nothing to train on: ${error.message}.`);
  }
  const values = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value]));
  location.replace(`#${new URLSearchParams(values)}`);
  const { alpha, sigma, seed } = inputs;
  const common = { data: values.data, alpha: alpha.valueAsNumber, sigma: sigma.valueAsNumber, seed: seed.valueAsNumber };
  runs = [values.a, values.b].filter((loss) => loss !== NONE).map((loss, i) => {
    const run = { settings: { ...common, loss }, side: "ab"[i], data, epochs: [], worker: new Worker(CODE) };
    run.worker.onmessage = (event) => hear(run, event.data);
    run.worker.onerror = (event) => stop(`The training failed: ${event.message}.`);
    run.worker.postMessage({ ...run.settings, data, protocol: GIVEN.protocol });
    return run;
  });
  cancel.disabled = false;
  status.textContent = `Training on ${data.training.y.length} rows.` +
    (data.left?.length ? ` Left out, since they hold no numbers: ${data.left.join(", ")}.` : "");
  draw();
}

function hear(run, message) {
  if (message.done) run.end = message;
  else {
    const counts = countsOf(run.data.validation.y, message.labels, run.data.classes);
    run.epochs.push({ loss: message.loss, counts, ...metricsOf(counts, run.data.classes) });
  }
  if (runs.every(({ end }) => end)) {
    stop("Done.");
    draw();
  } else if (!waiting) {
    waiting = setTimeout(draw, QUIET.matches ? 1000 : 50);
  }
}

function draw() {
  clearTimeout(waiting);
  waiting = 0;
  const title = ({ settings: { loss }, side }) => `${loss} (${side === "a" ? "solid" : "dashed"})`;
  const curves = (name, some) => some.map((run) => (
    { name: run.settings.loss, side: run.side, points: run.epochs.map((epoch) => epoch[name]) }));
  const charts = [
    ...runs.map((run) => chart(`validation loss, ${run.settings.loss}`, curves("loss", [run]))),
    ...["QWK", "CHR_ext", "center recall", "extreme recall"].map((name) => chart(name, curves(name, runs))),
  ];
  const sides = runs.map((run) => {
    const { epochs, end, data } = run, side = make("section", {}, make("h3", { class: `side-${run.side}` }, title(run)));
    if (end) side.append(confusion("Test part", countsOf(data.test.y, end.labels, data.classes), data.names), verdict(run));
    else if (epochs.length) side.append(confusion(`Validation part, epoch ${epochs.length}`, epochs.at(-1).counts, data.names));
    return side;
  });
  shown.replaceChildren(make("div", { class: "train-charts" }, ...charts), make("div", { class: "train-sides" }, ...sides));
}

inputs.data.addEventListener("change", () => (ownRow.hidden = inputs.data.value !== OWN));
file.addEventListener("change", readFile);
cancel.addEventListener("click", () => stop("Cancelled."));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  begin();
});
addEventListener("hashchange", fromAddress);
FIGURE.prepend(make("div", { class: "train" }, form, status, shown));
FIGURE.classList.add("live");
if (fromAddress()) begin();
