// The page "Train it here": settings, two workers that train, and pictures of what they report.
const SOURCE = document.querySelector("script[data-training]");
const GIVEN = JSON.parse(SOURCE.textContent), FIGURE = document.getElementById(SOURCE.dataset.training);
const CODE = URL.createObjectURL(
  new Blob([document.querySelector("script[data-worker]").textContent], { type: "text/javascript" }),
);
const OWN = "your own CSV file", NONE = "none", QUIET = matchMedia("(prefers-reduced-motion: reduce)");

// The book's run with such settings, if it has one.
function recordedRun({ data, loss, alpha, sigma, seed }) {
  const used = GIVEN.losses[loss];
  return GIVEN.runs.find((run) => run.data === data && run.loss === loss && run.seed === seed &&
    (!used.includes("alpha") || alpha === GIVEN.alpha) && (!used.includes("sigma") || sigma === GIVEN.sigma));
}

// What a run left, beside the recorded run with the same settings, if there is one.
function verdict({ settings, end, data, here }) {
  const recorded = recordedRun(settings);
  const lines = [`Weights of epoch ${end.bestEpoch} of ${end.epochs}, test part: ` +
    Object.entries(metricsOf(countsOf(data.test.y, end.labels, data.classes), data.classes))
      .map(([name, value]) => `${name} ${written(value)}`).join(", ") + "."];
  if (end.failed) lines.push(`In epoch ${end.failed} the loss stopped being a finite number.`);
  const digests = make("details", {}, make("summary", {}, "SHA-256 of the weights"));
  const digest = (where, text) => digests.append(make("p", {}, where, make("code", {}, text)));
  if (here) digest("Here: ", end.digest || "not available on a page without https");
  if (recorded) digest("In the book: ", recorded.digest);
  if (here && !recorded) lines.push("The book has no run with these settings to compare with.");
  if (here && recorded) {
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
  return make("div", { class: "train-verdict" }, ...lines.map((line) => make("p", {}, line)), digests);
}

// ---- form
const labeled = (name, input) => make("label", {}, make("span", {}, name), input);
const choice = (...options) => make("select", {}, ...options.map((text) => make("option", { value: text }, text)));
const number = (min, max, step) => make("input", { type: "number", min, max, step, required: "" });
const names = Object.keys(GIVEN.losses), inputs = {
  data: choice(...Object.keys(GIVEN.sets), OWN), a: choice(...names), b: choice(...names, NONE),
  alpha: number(0, 100, "any"), sigma: number(0.1, 100, "any"), seed: number(0, 2 ** 32 - 1, 1),
};
const START = {
  data: Object.keys(GIVEN.sets)[0], a: GIVEN.start[0], b: GIVEN.start[1] ?? NONE,
  alpha: GIVEN.alpha, sigma: GIVEN.sigma, seed: GIVEN.runs[0].seed,
};
const file = make("input", { type: "file", accept: ".csv,.tsv,.txt" }), target = make("select");
const ownRow = make("div", { class: "train-own", hidden: "" });
const start = make("button", { type: "submit" }, "Train");
const cancel = make("button", { type: "button", disabled: "" }, "Cancel");
const status = make("p", { role: "status" }), shown = make("div", { class: "train-shown" });
const form = make("form", { class: "train-form", "aria-label": "Settings of the training" });
const TEXTS = {
  data: "data set", a: "first loss", b: "second loss", alpha: "strength α", sigma: "width σ", seed: "seed",
};
ownRow.append(labeled("file", file), labeled("label column", target));
form.append(...Object.entries(TEXTS).map(([name, text]) => labeled(text, inputs[name])));
form.append(ownRow, make("div", { class: "train-buttons" }, start, cancel));
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
// Before anything is pressed: what the book's own runs with the settings answer.
function showRecorded() {
  const common = { data: START.data, alpha: START.alpha, sigma: START.sigma, seed: START.seed };
  const data = givenData(GIVEN.sets[START.data]);
  runs = GIVEN.start.map((loss, i) => {
    const settings = { ...common, loss }, { predicted, ...end } = recordedRun(settings);
    return { settings, side: "ab"[i], data, epochs: [], end: { ...end, labels: bytes(predicted) } };
  });
  status.textContent = `Trained when this page was made: ${START.data}, seed ${START.seed}. ` +
    "Press Train to see two networks.";
  draw();
}

function stop(said) {
  for (const run of runs) run.worker?.terminate();
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
  const [alpha, sigma, seed] = [values.alpha, values.sigma, values.seed].map(Number);
  const common = { data: values.data, alpha, sigma, seed };
  runs = [values.a, values.b].filter((loss) => loss !== NONE).map((loss, i) => {
    const run = { settings: { ...common, loss }, side: "ab"[i], data, epochs: [], here: true, worker: new Worker(CODE) };
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
  const charts = !runs.some(({ epochs }) => epochs.length) ? [] : [
    ...runs.map((run) => chart(`validation loss, ${run.settings.loss}`, curves("loss", [run]))),
    ...["QWK", "CHR_ext", "center recall", "extreme recall"].map((name) => chart(name, curves(name, runs))),
  ];
  const sides = runs.map((run) => {
    const { epochs, end, data, side } = run, K = data.classes;
    const section = make("section", {}, make("p", { class: `train-name side-${side}` }, title(run)));
    if (end) {
      section.append(confusion("Test part", countsOf(data.test.y, end.labels, K), data.names), verdict(run));
    } else if (epochs.length) {
      section.append(confusion(`Validation part, epoch ${epochs.length}`, epochs.at(-1).counts, data.names));
    }
    return section;
  });
  const [above, below] = ["train-charts", "train-sides"].map((name) => make("div", { class: name }));
  above.append(...charts);
  below.append(...sides);
  shown.replaceChildren(above, below);
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
else showRecorded();
