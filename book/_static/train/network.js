// A network with hidden layers of rectified units, trained by Adam, with early stopping: the
// arithmetic and the order of every sum are those of amol/engine. A factor of 0 in a
// chain of fused multiply-adds changes nothing, so it is left out: half of all hidden values are 0.
// That holds for finite numbers. One that isn't, among weights or slopes, makes weights NaN in the
// same step, be it by the gradient of a bias alone, and `train` ends as Python does.
const ROWS = 256; // samples at a time where no training limits them
const BETA_1 = f(0.9), BETA_2 = f(0.999), CHOICE = new Float64Array(2);

// x, or 0 where h is at most 0: not by an `if`, which the processor would guess wrong half the time.
function rectified(x, h) {
  CHOICE[1] = x;
  return CHOICE[!(h <= 0) | 0];
}

class Network {
  constructor(units, batch, random) {
    const rows = Math.max(batch, ROWS), numbers = (n) => new Float64Array(n + 8); // see `multiply`
    this.units = units;
    this.last = units.length - 1;
    this.starts = [0]; // of each layer's weights (inputs, outputs) row by row, then its bias
    for (let l = 0; l < this.last; l++) this.starts.push(this.starts[l] + (units[l] + 1) * units[l + 1]);
    [this.weights, this.m, this.v, this.gradient] = [0, 0, 0, 0].map(() => numbers(this.starts[this.last]));
    [this.values, this.slopes] = [0, 0].map(() => units.map((n) => numbers(rows * n)));
    this.zeros = numbers(Math.max(...units));
    this.product = new Product(rows * Math.max(...units), Math.max(...units, rows));
    this.powers = [1, 1];
    for (let l = 0; l < this.last; l++) {
      const bound = 1 / Math.sqrt(units[l]);
      for (let i = this.starts[l]; i < this.starts[l + 1]; i++) {
        this.weights[i] = f((2 * random.sample() - 1) * bound);
      }
    }
  }

  // Weights (inputs, outputs) of a layer.
  layer(l) {
    return matrix(this.weights, this.starts[l], this.units[l], this.units[l + 1]);
  }

  // Logits of n samples, which lie in values[0].
  forward(n) {
    for (let l = 0; l < this.last; l++) {
      const [inputs, outputs] = this.units.slice(l, l + 2), h = this.values[l], a = this.values[l + 1];
      const bias = this.starts[l + 1] - outputs;
      this.product.multiply(matrix(h, 0, n, inputs), this.layer(l), a, this.weights, bias);
      if (l < this.last - 1) for (let i = 0; i < n * outputs; i++) a[i] = rectified(a[i], a[i]);
    }
    return this.values[this.last];
  }

  // Slopes at the values of hidden layer l from those behind it.
  back(l, n) {
    const h = this.values[l], g = this.slopes[l], d = matrix(this.slopes[l + 1], 0, n, this.units[l + 1]);
    this.product.multiply(d, transposed(this.layer(l)), g, this.zeros, 0);
    for (let i = 0; i < n * this.units[l]; i++) g[i] = rectified(g[i], h[i]);
  }

  // Adam's step from the slopes at the logits of n samples.
  step(n, lr) {
    const { powers } = this;
    powers[0] *= 0.9;
    powers[1] *= 0.999;
    const rate = (lr * 0.1) / (1 - powers[0]);
    const scale = f(Math.sqrt(0.001 / (1 - powers[1])) / rate), epsilon = f(1e-8 / rate);
    for (let l = this.last - 1; l >= 0; l--) {
      if (l > 0) this.back(l, n);
      this.differentiate(l, n);
      this.adam(this.starts[l], this.starts[l + 1] - this.starts[l], scale, epsilon);
    }
  }

  // Gradient of the weights of layer l and of its bias, the weight of a value that is 1.
  differentiate(l, n) {
    const [inputs, outputs] = this.units.slice(l, l + 2), { gradient } = this, d = this.slopes[l + 1];
    const h = transposed(matrix(this.values[l], 0, n, inputs)), bias = inputs * outputs;
    this.product.multiply(h, matrix(d, 0, n, outputs), gradient, this.zeros, 0);
    gradient.fill(0, bias, bias + outputs);
    for (let i = 0; i < n * outputs; i += outputs) {
      for (let j = 0; j < outputs; j++) gradient[bias + j] = f(gradient[bias + j] + d[i + j]);
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
    if (!Number.isFinite(loss) || !network.weights.every(Number.isFinite)) {
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
  const weights = Float32Array.from(best.subarray(0, network.starts[network.last]));
  return { weights, labels: evaluate(network, data.test.X).labels, bestEpoch, epochs: epoch, failed };
}
