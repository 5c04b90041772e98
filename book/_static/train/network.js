// A network with hidden layers of rectified units, trained by Adam, with early stopping: the
// arithmetic and the order of every sum are those of amol/experiments/engine. A factor of 0 in a
// chain of fused multiply-adds changes nothing, so it is left out: half of all hidden values are 0.
const ROWS = 256; // samples at a time where no training limits them

class Network {
  constructor(units, batch, random) {
    const rows = Math.max(batch, ROWS), width = Math.max(...units, rows);
    this.units = units;
    this.last = units.length - 1;
    this.starts = [0]; // of each layer's weights (inputs, outputs) row by row, then its bias
    for (let l = 0; l < this.last; l++) this.starts.push(this.starts[l] + (units[l] + 1) * units[l + 1]);
    this.weights = new Float32Array(this.starts[this.last]);
    this.m = new Float32Array(this.weights.length);
    this.v = new Float32Array(this.weights.length);
    this.values = units.map((n) => new Float32Array(rows * n));
    this.slopes = units.map((n) => new Float32Array(rows * n));
    this.places = new Int32Array(width); // of a chain's factors that aren't 0, and the factors
    this.factors = new Float64Array(width);
    this.powers = [1, 1];
    for (let l = 0; l < this.last; l++) {
      const bound = 1 / Math.sqrt(units[l]);
      for (let i = this.starts[l]; i < this.starts[l + 1]; i++) {
        this.weights[i] = (2 * random.sample() - 1) * bound;
      }
    }
  }

  // Collects the factors of a chain, those of a[at], a[at + step], … that aren't 0, with their
  // places times `stride`; returns how many.
  collect(a, at, step, count, stride, start) {
    const { places, factors } = this;
    let found = 0;
    for (let k = 0; k < count; k++, at += step) {
      if (a[at] === 0) continue;
      places[found] = start + k * stride;
      factors[found++] = a[at];
    }
    return found;
  }

  // n sums into c[to], …: each starts at x[from], … (or at 0) and takes the collected factors times
  // b at their places, in order. Four at a time, for the processor's sake.
  chains(found, b, n, c, to, x, from) {
    const { places, factors } = this;
    let j = 0;
    for (; j + 3 < n; j += 4) {
      let c0 = 0, c1 = 0, c2 = 0, c3 = 0;
      if (x) (c0 = x[from + j]), (c1 = x[from + j + 1]), (c2 = x[from + j + 2]), (c3 = x[from + j + 3]);
      for (let s = 0; s < found; s++) {
        const a = factors[s], at = places[s] + j;
        c0 = fma(a, b[at], c0);
        c1 = fma(a, b[at + 1], c1);
        c2 = fma(a, b[at + 2], c2);
        c3 = fma(a, b[at + 3], c3);
      }
      (c[to + j] = c0), (c[to + j + 1] = c1), (c[to + j + 2] = c2), (c[to + j + 3] = c3);
    }
    for (; j < n; j++) {
      let sum = x ? x[from + j] : 0;
      for (let s = 0; s < found; s++) sum = fma(factors[s], b[places[s] + j], sum);
      c[to + j] = sum;
    }
  }

  // Logits of n samples, which lie in values[0].
  forward(n) {
    for (let l = 0; l < this.last; l++) {
      const [inputs, outputs] = this.units.slice(l, l + 2), h = this.values[l], a = this.values[l + 1];
      const start = this.starts[l], bias = start + inputs * outputs;
      for (let i = 0; i < n; i++) {
        const found = this.collect(h, i * inputs, 1, inputs, outputs, start);
        this.chains(found, this.weights, outputs, a, i * outputs, this.weights, bias);
      }
      if (l < this.last - 1) for (let i = 0; i < n * outputs; i++) if (a[i] <= 0) a[i] = 0;
    }
    return this.values[this.last];
  }

  // Slopes at the values of hidden layer l from those behind it: only where a value isn't 0.
  back(l, n) {
    const { places, factors, weights } = this;
    const [inputs, outputs] = this.units.slice(l, l + 2), h = this.values[l];
    const d = this.slopes[l + 1], g = this.slopes[l], start = this.starts[l];
    for (let i = 0; i < n; i++) {
      const found = this.collect(d, i * outputs, 1, outputs, 1, 0);
      for (let k = 0; k < inputs; k++) {
        let sum = 0;
        if (h[i * inputs + k] !== 0) {
          const row = start + k * outputs;
          for (let s = 0; s < found; s++) sum = fma(factors[s], weights[row + places[s]], sum);
        }
        g[i * inputs + k] = sum;
      }
    }
  }

  // Adam's step from the slopes at the logits of n samples.
  step(n, lr) {
    const { powers, values, slopes, units } = this;
    powers[0] *= 0.9;
    powers[1] *= 0.999;
    const rate = (lr * 0.1) / (1 - powers[0]);
    const scale = f(Math.sqrt(0.001 / (1 - powers[1])) / rate), epsilon = f(1e-8 / rate);
    const gradient = new Float32Array(Math.max(...units));
    for (let l = this.last - 1; l >= 0; l--) {
      const [inputs, outputs] = units.slice(l, l + 2), h = values[l], d = slopes[l + 1];
      if (l > 0) this.back(l, n);
      for (let k = 0; k <= inputs; k++) {
        const found = k < inputs ? this.collect(h, k, inputs, n, outputs, 0)
          : this.collect(ONES, 0, 0, n, outputs, 0); // the bias is the weight of a value that is 1
        this.chains(found, d, outputs, gradient, 0);
        this.adam(gradient, this.starts[l] + k * outputs, outputs, scale, epsilon);
      }
    }
  }

  adam(gradient, at, count, scale, epsilon) {
    const { weights, m, v } = this;
    for (let j = 0; j < count; j++, at++) {
      const g = gradient[j], moment = fma(BETA_1, m[at], g);
      m[at] = Math.abs(moment) < TINY ? 0 : moment;
      v[at] = fma(BETA_2, v[at], fma(g, g, TINY));
      weights[at] -= f(m[at] / fma(f(Math.sqrt(v[at])), scale, epsilon));
    }
  }
}
const ONES = new Float32Array([1]), BETA_1 = f(0.9), BETA_2 = f(0.999);

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
  return { weights: best, labels: evaluate(network, data.test.X).labels, bestEpoch, epochs: epoch, failed };
}
