// What the page shows: metrics by epoch as curves, and a table of answers.
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

// The metrics of amol/metrics from such counts.
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
// One curve per run over the epochs, with what they are at last. The first epochs, in which all is
// far off, don't set the scale, so that curves near each other stay apart.
const FIRST = 5;
function chart(title, curves) {
  const after = curves.flatMap(({ points }) => points.slice(points.length > 2 * FIRST ? FIRST : 0));
  const values = after.filter(Number.isFinite);
  const least = Math.min(...values), most = Math.max(...values), span = most - least || 1;
  const length = Math.max(20, ...curves.map(({ points }) => points.length));
  const paths = curves.map(({ points, side }) => {
    const at = (value, i) => `${(i / (length - 1)) * 200},${100 - ((value - least) / span) * 100}`;
    const placed = points.map(at).filter((place) => !place.includes("NaN"));
    return `<polyline class="side-${side}" points="${placed.join(" ")}"/>`;
  });
  const said = curves.map(({ name, points }) => `${name} ${written(points.at(-1))}`).join(", ");
  const label = `${title} by epoch, at last ${said}`;
  const box = make("div", { class: "train-chart", role: "img", "aria-label": label });
  const ends = values.length ? [most, least].map((end) => `<span>${written(end)}</span>`).join("") : "";
  box.innerHTML =
    `<b>${title}</b><div class="train-plot"><div class="train-axis">${ends}</div>` +
    `<svg viewBox="0 -3 200 106" preserveAspectRatio="none">${paths.join("")}</svg></div>` +
    `<div class="train-length">epoch ${length}</div>`;
  return box;
}

function confusion(title, counts, names) {
  const K = names.length, table = make("table", { class: "train-confusion" });
  const center = (k) => (k === Math.floor((K - 1) / 2) ? { class: "center" } : {});
  table.append(make("caption", {}, `${title}: true class down, answer across`));
  const head = make("tr", {}, make("td"));
  head.append(...names.map((name, k) => make("th", { scope: "col", ...center(k) }, name)));
  const rows = names.map((name, t) => {
    const own = counts.slice(t * K, t * K + K), total = own.reduce((a, b) => a + b) || 1;
    const shade = (count) => `--share: ${Math.round((45 * count) / total)}%`;
    const cells = own.map((count, k) => make("td", { style: shade(count), ...center(k) }, `${count}`));
    return make("tr", {}, make("th", { scope: "row" }, name), ...cells);
  });
  table.append(make("thead", {}, head), make("tbody", {}, ...rows));
  return make("div", { class: "train-scroll", tabindex: 0, role: "group", "aria-label": title }, table);
}
