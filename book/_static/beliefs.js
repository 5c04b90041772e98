// A belief over three classes that the reader drags, what a loss asks for under it, and the
// triangle of all beliefs cut into the answers of that loss. The formulas are those of
// `amol.losses.minimize_risk`; a test sets the one against the other.
const BELIEFS = (() => {
  const K = 3, C = 1, CLASSES = [0, 1, 2], NAMES = ["low", "center", "high"];
  const sum = (row) => row.reduce((a, b) => a + b, 0);
  const scaled = (row) => { const total = sum(row); return row.map((v) => v / total); };
  const table = (entry) => CLASSES.map((y) => CLASSES.map((k) => entry(k, y))); // row y, column k
  const mixed = (b, rows) => CLASSES.map((k) => sum(CLASSES.map((y) => b[y] * rows[y][k])));
  const first = (row) => row.indexOf(Math.max(...row));
  const median = (b) => Number(b[0] < 0.5) + Number(b[0] + b[1] < 0.5);
  const expected = (b, power) => CLASSES.map((k) => sum(CLASSES.map((y) => b[y] * Math.abs(k - y) ** power)));
  const sure = (k) => CLASSES.map((j) => Number(j === k));

  const gaussian = (sigma) => table((k, y) => Math.exp(-((k - y) ** 2) / (2 * sigma * sigma))).map(scaled);
  const pull = (k, y) => (1 - Math.abs(k - C) / C) * (Math.abs(y - C) / C); // of the weight m

  // p_k = exp((B_k + λ)/M_k − 1), by Newton's method from the right of the root of log Σ p
  function divergence(b, m, mLogQ) {
    const M = mixed(b, m), B = mixed(b, mLogQ);
    let level = Math.min(...CLASSES.map((k) => M[k] - B[k]));
    for (let i = 0; i < 60; i++) {
      const p = CLASSES.map((k) => Math.exp((B[k] + level) / M[k] - 1)), total = sum(p);
      const step = (Math.log(total) * total) / sum(CLASSES.map((k) => p[k] / M[k]));
      level -= step;
      if (Math.abs(step) < 1e-13) break;
    }
    return CLASSES.map((k) => Math.exp((B[k] + level) / M[k] - 1));
  }

  // p_k = max(0, 1 − c_k/λ)
  function leastCost(b, power) {
    const c = expected(b, power), order = [...c].sort((u, v) => u - v);
    if (order[0] <= 0) return sure(c.indexOf(order[0]));
    let level = order[0] + order[1];
    if (order[2] < level) level = sum(order) / 2;
    return c.map((v) => Math.max(0, 1 - v / level));
  }

  // By loss: its parameters, and from them a function of beliefs.
  const weighted = (form) => ({
    uses: form ? ["alpha", "sigma"] : ["sigma"],
    make({ alpha, sigma }) {
      const q = gaussian(sigma), m = table((k, y) => (form ? form(alpha * pull(k, y)) : 1));
      const mLogQ = table((k, y) => m[y][k] * Math.log(q[y][k]));
      return (b) => divergence(b, m, mLogQ);
    },
  });
  const soft = (uses, rows) => ({
    uses,
    make(settings) {
      const found = rows(settings);
      return (b) => scaled(mixed(b, found));
    },
  });
  function triangular() {
    const s = Math.sqrt(0.1), c = s * (1 - s) * (1 - s * s);
    const [low, high] = [c, c * 4 / 9].map((v) => ((2 * v) / (1 + Math.sqrt(1 + 4 * v))) ** 2);
    return [[1 - low, low, 0], [0.05, 0.9, 0.05], [0, high, 1 - high]];
  }
  const fixed = (asked, label = first) => ({ uses: [], make: () => asked, label });
  const closeness = (k, y) => 1 - Math.abs(k - y) / (K - 1);
  const LOSSES = {
    "AMOL": weighted((product) => 1 + product),
    "AMOL-asym": weighted((product) => 1 + product), // all weight of three classes points inward
    "AMOL-exp": weighted(Math.exp),
    "KL (AMOL without weight)": weighted(null),
    "CE, EMD2, CLM": fixed((b) => b),
    "CE-balanced, LogitAdj, AMOL-CE": fixed((b) => b), // equal counts; m(k, k) = 1 of three classes
    "CE-masked": fixed((b) => (b[0] + b[2] > 0 ? scaled([b[0], 0, b[2]]) : [0.5, 0, 0.5])),
    "CORN, CORAL": fixed((b) => b, median),
    "OLL": soft([], () => table(closeness)),
    "AMOL-OLL": soft(["alpha"], ({ alpha }) => table((k, y) => (1 + alpha * pull(k, y)) * closeness(k, y))),
    "OLL-Castagnos": fixed((b) => leastCost(b, 1)),
    "CDW-CE": fixed((b) => leastCost(b, 2)),
    "SORD": soft(["sigma"], ({ sigma }) => gaussian(sigma)),
    "Exponential": soft([], () => table((k, y) => Math.exp(-Math.abs(k - y))).map(scaled)),
    "Triangular": soft([], triangular),
    "Binomial": soft([], () => [0.1, 0.5, 0.9].map((p) => [(1 - p) ** 2, 2 * p * (1 - p), p * p])),
    "Poisson": soft([], () => [1, 2, 3].map((rate) =>
      scaled([1, rate, rate * rate / 2].map((odds) => Math.exp(odds * Math.exp(-rate)))))),
    // shares of thirds under beta distributions with shapes (1, 4), (4, 4) and (4, 1)
    "Beta": soft([], () => [[65, 15, 1], [379, 1429, 379], [1, 15, 65]].map(scaled)),
    "decision: fewest errors": fixed((b) => sure(first(b))),
    "decision: least |error|": fixed((b) => sure(median(b))),
    "decision: least error²": fixed((b) => sure(first(expected(b, 2).map((v) => -v)))),
  };

  // (label, probabilities) under a belief
  function answer(loss, settings, b) {
    const p = LOSSES[loss].make(settings)(b);
    return [(LOSSES[loss].label ?? first)(p), p];
  }
  return { LOSSES, NAMES, answer, first };
})();

(() => {
  const figure = document.getElementById("fig-belief");
  if (!figure) return;
  const { LOSSES, NAMES, first } = BELIEFS, COLORS = ["#0072B2", "#E69F00", "#009E73"];
  const SIDE = 320, HIGH = Math.round(SIDE * Math.sqrt(0.75)), EDGE = 16, BLOCK = 8;
  const state = { loss: "AMOL", alpha: 1, sigma: 1, belief: [0.45, 0.17, 0.38] };

  function make(tag, attributes = {}, ...inside) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...inside);
    return node;
  }
  const range = (min, max, step, value) => make("input", { type: "range", min, max, step, value });
  const labeled = (text, input, ...more) => make("label", {}, make("span", {}, text), input, ...more);

  const inputs = {
    loss: make("select", {}, ...Object.keys(LOSSES).map((name) => make("option", { value: name }, name))),
    alpha: range(0, 4, 0.05, state.alpha), sigma: range(0.3, 3, 0.05, state.sigma),
  };
  const shown = { alpha: make("output"), sigma: make("output") };
  const canvas = make("canvas", { "data-triangle": "", role: "img" }), context = canvas.getContext("2d");
  const weights = NAMES.map((name) => range(0, 100, 1, 0));
  const bars = Object.fromEntries(["belief", "asked"].map((kind) => [kind, NAMES.map((name, k) => make("i"))]));
  const numbers = Object.fromEntries(["belief", "asked"].map((kind) => [kind, NAMES.map(() => make("span"))]));
  const verdict = make("p", { role: "status" }), share = make("p", {});
  const row = (name, kind, k) => make("div", { class: "belief-row" }, make("span", {}, name),
    make("div", { class: "belief-bar" }, bars[kind][k]), numbers[kind][k]);
  const part = (title, kind) => make("div", {}, make("strong", {}, title),
    ...NAMES.map((name, k) => row(name, kind, k)));
  const sliders = make("div", { class: "belief-sliders" },
    ...NAMES.map((name, k) => labeled(`belief in “${name}”`, weights[k])));
  figure.prepend(make("div", { class: "beliefs" },
    make("div", { class: "belief-form", role: "group", "aria-label": "Loss and its parameters" },
      labeled("loss", inputs.loss), labeled("α", inputs.alpha, shown.alpha), labeled("σ", inputs.sigma, shown.sigma)),
    make("div", { class: "belief-shown" }, make("div", {}, canvas, share),
      make("div", {}, part("Belief", "belief"), part("What the loss asks for", "asked"), verdict, sliders))));
  for (const kind of ["belief", "asked"]) bars[kind].forEach((bar, k) => { bar.style.background = COLORS[k]; });

  // opaque, in the byte order of an image
  const PIXELS = COLORS.map((color) => 0xff000000 + parseInt(color.slice(5) + color.slice(3, 5) + color.slice(1, 3), 16));
  const cut = document.createElement("canvas");
  let shareOfCenter = 0;

  // The triangle in the colors of the answers; only a change of loss, α or σ asks for it. Within a
  // block whose corners have one answer no pixel is asked.
  function cutTriangle() {
    const { make: of, label = first } = LOSSES[state.loss], asked = of(state), known = new Map();
    function answerAt(x, y) {
      const at = y * 4096 + x;
      if (!known.has(at)) {
        const middle = Math.max(1 - (y + 0.5) / HIGH, 0), high = (x + 0.5) / SIDE - middle / 2;
        const belief = [1 - middle - high, middle, high].map((v) => Math.max(v, 1e-9));
        known.set(at, label(asked(belief)));
      }
      return known.get(at);
    }
    cut.width = SIDE;
    cut.height = HIGH;
    const pixels = new Uint32Array(SIDE * HIGH), counts = [0, 0, 0];
    for (let top = 0; top < HIGH; top += BLOCK) {
      const wide = ((top + BLOCK) / HIGH) * SIDE / 2; // half of the triangle's width here
      for (let left = 0; left < SIDE; left += BLOCK) {
        if (left + BLOCK < SIDE / 2 - wide || left > SIDE / 2 + wide) continue;
        const corners = [[0, 0], [BLOCK, 0], [0, BLOCK], [BLOCK, BLOCK]].map(([x, y]) => answerAt(left + x, top + y));
        const same = corners.every((k) => k === corners[0]);
        for (let y = top; y < Math.min(top + BLOCK, HIGH); y++) {
          const half = ((y + 0.5) / HIGH) * SIDE / 2;
          for (let x = left; x < left + BLOCK; x++) {
            if (Math.abs(x + 0.5 - SIDE / 2) >= half) continue;
            const k = same ? corners[0] : answerAt(x, y);
            counts[k]++;
            pixels[y * SIDE + x] = PIXELS[k];
          }
        }
      }
    }
    const image = new ImageData(new Uint8ClampedArray(pixels.buffer), SIDE, HIGH);
    cut.getContext("2d").putImageData(image, 0, 0);
    shareOfCenter = counts[1] / (counts[0] + counts[1] + counts[2]);
  }

  function draw() {
    const began = performance.now(), { belief } = state, ink = getComputedStyle(figure).color;
    const dense = window.devicePixelRatio || 1;
    canvas.width = (SIDE + 2 * EDGE) * dense;
    canvas.height = (HIGH + 3 * EDGE) * dense;
    context.setTransform(dense, 0, 0, dense, EDGE * dense, 1.5 * EDGE * dense);
    context.drawImage(cut, 0, 0);
    context.fillStyle = ink;
    context.font = "14px sans-serif";
    for (const [k, x, y, align] of [[0, 0, HIGH + EDGE, "left"], [1, SIDE / 2, -6, "center"], [2, SIDE, HIGH + EDGE, "right"]]) {
      context.textAlign = align;
      context.fillText(NAMES[k], x, y);
    }
    context.beginPath();
    context.arc((belief[2] + belief[1] / 2) * SIDE, (1 - belief[1]) * HIGH, 8, 0, 7);
    context.fillStyle = "#fff";
    context.fill();
    context.lineWidth = 3;
    context.strokeStyle = "#222";
    context.stroke();
    const [answered, p] = BELIEFS.answer(state.loss, state, belief);
    for (const [kind, values] of Object.entries({ belief, asked: p })) {
      values.forEach((value, k) => {
        bars[kind][k].style.width = `${100 * value}%`;
        numbers[kind][k].textContent = `${Math.round(100 * value)} %`;
      });
    }
    weights.forEach((input, k) => { input.value = Math.round(100 * belief[k]); });
    verdict.textContent = `Answer: ${NAMES[answered]}. Most probable: ${NAMES[first(belief)]}.`;
    share.textContent = `“center” is answered on ${Math.round(100 * shareOfCenter)} % of all beliefs.`;
    canvas.setAttribute("aria-label",
      `All beliefs over low, center and high, cut into the answers of ${state.loss}. ${share.textContent}`);
    canvas.dataset.milliseconds = performance.now() - began;
  }

  function change() {
    const began = performance.now();
    state.loss = inputs.loss.value;
    for (const name of ["alpha", "sigma"]) {
      state[name] = Number(inputs[name].value);
      shown[name].textContent = state[name].toFixed(2);
      inputs[name].disabled = !LOSSES[state.loss].uses.includes(name);
    }
    cutTriangle();
    draw();
    canvas.dataset.milliseconds = performance.now() - began;
  }

  function move(event) {
    const box = canvas.getBoundingClientRect(), scale = box.width / (SIDE + 2 * EDGE);
    const x = (event.clientX - box.left) / scale - EDGE, y = (event.clientY - box.top) / scale - 1.5 * EDGE;
    const middle = Math.min(1, Math.max(0, 1 - y / HIGH));
    const high = Math.min(1 - middle, Math.max(0, x / SIDE - middle / 2));
    state.belief = [1 - middle - high, middle, high];
    draw();
  }
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    move(event);
  });
  canvas.addEventListener("pointermove", (event) => { if (event.buttons) move(event); });
  weights.forEach((input, k) => input.addEventListener("input", () => {
    const rest = 1 - input.value / 100, others = 1 - state.belief[k];
    state.belief = state.belief.map((v, j) => (j === k ? 1 - rest : others > 0 ? (v / others) * rest : rest / 2));
    draw();
  }));
  Object.values(inputs).forEach((input) => input.addEventListener("input", change));
  new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  figure.classList.add("live");
  change();
})();
