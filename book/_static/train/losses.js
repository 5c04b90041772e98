// The losses that the page offers, as in amol/losses/ and amol/engine/kinds.py: tables
// with one row per label, made in float64 and rounded to float32, and a batch's values and slopes.
const LOSSES = {
  CE: { uses: [] },
  KL: { uses: ["sigma"], direction: "none" },
  AMOL: { uses: ["alpha", "sigma"], direction: "both" },
  "AMOL-asym": { uses: ["alpha", "sigma"], direction: "inward" },
  SORD: { uses: ["sigma"] },
  OLL: { uses: [] },
};

// log q of the Gaussian target q(k) ∝ exp(−(k − y)²/(2σ²)).
function logTarget(K, y, sigma) {
  const logits = Array.from({ length: K }, (_, k) => -0.5 * (Math.abs(k - y) / sigma) ** 2);
  const total = logits.reduce((sum, each) => sum + Math.exp(each), 0); // the largest logit is 0
  return logits.map((each) => each - Math.log(total));
}

// Weight m(k, y) = 1 + α (1 − |k − c|/c)(|y − c|/c) with c = (K − 1)/2.
function centerWeight(K, k, y, alpha, direction) {
  const c = (K - 1) / 2, inward = (y < k && k <= c) || (c <= k && k < y);
  if (direction === "none" || (direction === "inward" && !inward)) return 1;
  return 1 + alpha * (1 - Math.abs(k - c) / c) * (Math.abs(y - c) / c);
}

// Tables (K · K) of a loss: m and −m log q of a divergence, or the weights r of log p.
function lossTables(name, K, alpha, sigma) {
  const table = (entry) => Float32Array.from({ length: K * K }, (_, i) => entry(i % K, Math.floor(i / K)));
  const { direction } = LOSSES[name];
  if (direction) {
    const m = (k, y) => centerWeight(K, k, y, alpha, direction);
    return { m: table(m), rest: table((k, y) => -m(k, y) * logTarget(K, y, sigma)[k]) };
  }
  if (name === "SORD") return { r: table((k, y) => Math.exp(logTarget(K, y, sigma)[k])) };
  if (name === "OLL") return { r: table((k, y) => 1 - Math.abs(k - y) / (K - 1)) };
  return { r: table((k, y) => (k === y ? 1 : 0)) };
}

// p and log p of K logits from z[at] on.
function softmax(z, at, K, p, logP) {
  let top = z[at], total = 0;
  for (let k = 1; k < K; k++) if (z[at + k] > top) top = z[at + k];
  for (let k = 0; k < K; k++) {
    logP[k] = z[at + k] - top;
    p[k] = exp32(f(z[at + k] - top));
    total = f(total + p[k]);
  }
  const inverse = f(1 / total), logTotal = log32(total);
  for (let k = 0; k < K; k++) {
    logP[k] -= logTotal;
    p[k] *= inverse;
  }
}

// A sample's value and, in `slopes`, the K slopes at its logits z[at], …
function lossOf({ m, rest, r }, K, z, at, y, slopes) {
  const { p, logP } = lossOf, row = y * K;
  softmax(z, at, K, p, logP);
  let value = 0, sum = 0;
  for (let k = 0; k < K; k++) {
    if (m) {
      const term = f(p[k] * f(f(m[row + k] * logP[k]) + rest[row + k]));
      slopes[k] = f(term + f(m[row + k] * p[k]));
      value = f(value + term);
      sum = f(sum + slopes[k]);
    } else {
      value = f(value - f(r[row + k] * logP[k]));
      sum = f(sum + r[row + k]);
    }
  }
  for (let k = 0; k < K; k++) {
    slopes[k] = m ? slopes[k] - f(p[k] * sum) : f(p[k] * sum) - r[row + k];
  }
  return value;
}
lossOf.p = new Float32Array(64);
lossOf.logP = new Float32Array(64);
