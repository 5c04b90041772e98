// A network with hidden layers of rectified units, trained by Adam, with early stopping: the
// arithmetic and the order of every sum are those of amol/experiments/engine. A factor of 0 in a
// chain of fused multiply-adds changes nothing, so it is left out: half of all hidden values are 0.
const ROWS = 256; // samples at a time where no training limits them

class Network {
  constructor(units, batch, random) {
    const rows = Math.max(batch, ROWS), numbers = (n) => new Float64Array(n);
    this.units = units;
    this.last = units.length - 1;
    this.starts = [0]; // of each layer's weights (inputs, outputs) row by row, then its bias
    for (let l = 0; l < this.last; l++) this.starts.push(this.starts[l] + (units[l] + 1) * units[l + 1]);
    [this.weights, this.m, this.v] = [0, 0, 0].map(() => numbers(this.starts[this.last]));
    [this.values, this.slopes] = [0, 0].map(() => units.map((n) => numbers(rows * n)));
    this.flipped = units.map((n, l) => numbers(l < this.last ? n * units[l + 1] : 0));
    this.chain = { places: new Int32Array(Math.max(...units, rows)), factors: numbers(Math.max(...units, rows)) };
    this.zeros = numbers(Math.max(...units));
    this.gradient = numbers(Math.max(...units));
    this.powers = [1, 1];
    for (let l = 0; l < this.last; l++) {
      const bound = 1 / Math.sqrt(units[l]);
      for (let i = this.starts[l]; i < this.starts[l + 1]; i++) {
        this.weights[i] = f((2 * random.sample() - 1) * bound);
      }
    }
  }

  // Logits of n samples, which lie in values[0].
  forward(n) {
    const { chain, weights } = this;
    for (let l = 0; l < this.last; l++) {
      const [inputs, outputs] = this.units.slice(l, l + 2), h = this.values[l], a = this.values[l + 1];
      const start = this.starts[l], bias = start + inputs * outputs;
      for (let i = 0; i < n; i++) {
        const found = collect(chain, h, i * inputs, 1, inputs, start, outputs);
        chains(chain, found, weights, outputs, a, i * outputs, weights, bias);
      }
      if (l < this.last - 1) for (let i = 0; i < n * outputs; i++) if (a[i] <= 0) a[i] = 0;
    }
    return this.values[this.last];
  }

  // Slopes at the values of hidden layer l from those behind it.
  back(l, n) {
    const { chain, weights } = this;
    const [inputs, outputs] = this.units.slice(l, l + 2), h = this.values[l];
    const d = this.slopes[l + 1], g = this.slopes[l], flipped = this.flipped[l], start = this.starts[l];
    for (let k = 0; k < inputs; k++) {
      for (let j = 0; j < outputs; j++) flipped[j * inputs + k] = weights[start + k * outputs + j];
    }
    for (let i = 0; i < n; i++) {
      const found = collect(chain, d, i * outputs, 1, outputs, 0, inputs);
      chains(chain, found, flipped, inputs, g, i * inputs, this.zeros, 0);
    }
    for (let i = 0; i < n * inputs; i++) if (h[i] <= 0) g[i] = 0;
  }

  // Adam's step from the slopes at the logits of n samples.
  step(n, lr) {
    const { chain, powers, values, slopes, units, gradient } = this;
    powers[0] *= 0.9;
    powers[1] *= 0.999;
    const rate = (lr * 0.1) / (1 - powers[0]);
    const scale = f(Math.sqrt(0.001 / (1 - powers[1])) / rate), epsilon = f(1e-8 / rate);
    for (let l = this.last - 1; l >= 0; l--) {
      const [inputs, outputs] = units.slice(l, l + 2);
      if (l > 0) this.back(l, n);
      for (let k = 0; k <= inputs; k++) {
        const found = k < inputs
          ? collect(chain, values[l], k, inputs, n, 0, outputs)
          : collect(chain, ONE, 0, 0, n, 0, outputs); // the bias is the weight of a value that is 1
        chains(chain, found, slopes[l + 1], outputs, gradient, 0, this.zeros, 0);
        this.adam(this.starts[l] + k * outputs, outputs, scale, epsilon);
      }
    }
  }

  adam(at, count, scale, epsilon) {
    const { weights, gradient, m, v } = this;
    for (let j = 0; j < count; j++, at++) {
      const g = gradient[j], moment = fma(BETA_1, m[at], g);
      m[at] = Math.abs(moment) < TINY ? 0 : moment;
      v[at] = fma(BETA_2, v[at], fma(g, g, TINY));
      weights[at] = f(weights[at] - f(m[at] / fma(f(Math.sqrt(v[at])), scale, epsilon)));
    }
  }
}
const ONE = new Float64Array([1]), BETA_1 = f(0.9), BETA_2 = f(0.999);

// Collects the factors of a chain, those of a[at], a[at + step], … that aren't 0, with their places,
// which begin at `start` and lie `stride` apart; returns how many.
function collect({ places, factors }, a, at, step, count, start, stride) {
  let found = 0;
  for (let k = 0; k < count; k++, at += step) {
    if (a[at] === 0) continue;
    places[found] = start + k * stride;
    factors[found++] = a[at];
  }
  return found;
}

// n sums into c[to], …: each starts at x[from], … and takes the collected factors times b at their
// places, in order. Four at a time, for the processor has other work while one is rounded.
function chains(chain, found, b, n, c, to, x, from) {
  const fours = n - (n % 4);
  let j = 0;
  for (; j < fours; j += 4) {
    if (fourChains(chain, found, b, j, c, to + j, x, from + j)) continue;
    for (let k = j; k < j + 4; k++) c[to + k] = exactChain(chain, found, b, k, x[from + k]);
  }
  for (; j < n; j++) c[to + j] = exactChain(chain, found, b, j, x[from + j]);
}

function exactChain({ places, factors }, found, b, j, sum) {
  for (let s = 0; s < found; s++) sum = fma(factors[s], b[places[s] + j], sum);
  return sum;
}

// As `fma`, but stops and returns false where a sum lies half-way or next to it.
function fourChains({ places, factors }, found, b, j, c, to, x, from) {
  let r0 = x[from], r1 = x[from + 1], r2 = x[from + 2], r3 = x[from + 3];
  for (let s = 0; s < found; s++) {
    const a = factors[s], at = places[s] + j;
    const s0 = a * b[at] + r0, s1 = a * b[at + 1] + r1, s2 = a * b[at + 2] + r2, s3 = a * b[at + 3] + r3;
    r0 = f(s0);
    r1 = f(s1);
    r2 = f(s2);
    r3 = f(s3);
    if (f(s0 + (s0 - r0) * NUDGE) !== r0 || f(s1 + (s1 - r1) * NUDGE) !== r1) return false;
    if (f(s2 + (s2 - r2) * NUDGE) !== r2 || f(s3 + (s3 - r3) * NUDGE) !== r3) return false;
  }
  c[to] = r0;
  c[to + 1] = r1;
  c[to + 2] = r2;
  c[to + 3] = r3;
  return true;
}

// Fills in the slopes of a batch's mean loss at its logits.
function meanSlopes(network, tables, y, n) {
  const K = network.units[network.last], z = network.values[network.last];
  const slopes = network.slopes[network.last], own = new Float32Array(K), share = f(1 / n);
  for (let i = 0; i < n; i++) {
    lossOf(tables, K, z, i * K, y[i], own);
    for (let k = 0; k < K; k++) {
      const slope = f(own[k] * share);
      slopes[i * K + k] = Math.abs(slope) < TINY ? 0 : slope;
    }
  }
}

// Labels of samples X (rows · features), and their mean loss where y is given.
function evaluate(network, X, tables, y) {
  const [features] = network.units, K = network.units[network.last], rows = X.length / features;
  const labels = new Uint8Array(rows), slopes = new Float32Array(K);
  let sum = 0, finite = true;
  for (let start = 0; start < rows; start += ROWS) {
    const n = Math.min(ROWS, rows - start);
    network.values[0].set(X.subarray(start * features, (start + n) * features));
    const z = network.forward(n);
    for (let i = 0; i < n; i++) {
      let top = 0;
      for (let k = 0; k < K; k++) {
        if (z[i * K + k] > z[i * K + top]) top = k;
        finite &&= Number.isFinite(z[i * K + k]);
      }
      labels[start + i] = top;
      if (y) sum += lossOf(tables, K, z, i * K, y[start + i], slopes);
    }
  }
  return { labels, loss: finite ? sum / rows : NaN };
}

// Trains one network; `said` hears of each epoch. `data` holds X and y of the parts.
function train(data, tables, seed, protocol, said) {
  const { X, y } = data.training, n = y.length, features = X.length / n;
  const { hidden, layers, lr, patience, epochs } = protocol, batch = Math.min(protocol.batch_size, n);
  const random = new RandomState(seed);
  const network = new Network([features, ...Array(layers).fill(hidden), data.classes], batch, random);
  const drawn = new Uint8Array(batch);
  let best = network.weights.slice(), score = Infinity, bestEpoch = 0, failed = null, epoch = 1;
  for (; ; epoch++) {
    const order = random.permutation(n);
    for (let start = 0; start < n; start += batch) {
      const count = Math.min(batch, n - start);
      for (let i = 0; i < count; i++) {
        const row = order[start + i];
        drawn[i] = y[row];
        network.values[0].set(X.subarray(row * features, (row + 1) * features), i * features);
      }
      network.forward(count);
      meanSlopes(network, tables, drawn, count);
      network.step(count, lr);
    }
    const { labels, loss } = evaluate(network, data.validation.X, tables, data.validation.y);
    if (!Number.isFinite(loss)) {
      failed = epoch;
      break;
    }
    if (loss < score) {
      score = loss;
      bestEpoch = epoch;
      best = network.weights.slice();
    }
    said({ epoch, loss, labels, bestEpoch });
    if (epoch - bestEpoch >= patience || epoch === epochs) break;
  }
  network.weights.set(best);
  return { weights: Float32Array.from(best), labels: evaluate(network, data.test.X).labels, bestEpoch, epochs: epoch, failed };
}
