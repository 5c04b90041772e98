// Products of matrices as chains of fused multiply-adds, eight at a time, for the processor has other
// work while one sum is rounded. Results are written in eights as well: what spills over the end of a
// row is overwritten by the next one, and arrays are longer by eight.
const HALF = -(2 ** 31), NORMAL = 2 ** -125;

class Product {
  constructor(steps, columns) {
    this.panels = new Float64Array(steps * (columns + 8)); // of eight columns each, row by row
    this.places = new Int32Array(steps);
    this.factors = new Float64Array(steps);
    this.sums = new Float64Array(8);
    this.words = new Int32Array(this.sums.buffer);
  }

  // Takes the right matrix b (steps, columns), whose rows and columns lie at these strides.
  take(b, start, steps, columns, rowStride, columnStride) {
    const { panels } = this;
    let at = 0, least = Infinity;
    for (let j = 0; j < columns; j += 8) {
      for (let k = 0; k < steps; k++) {
        for (let i = j; i < j + 8; i++) {
          const value = i < columns ? b[start + k * rowStride + i * columnStride] : 0;
          panels[at++] = value;
          if (value !== 0) least = Math.min(least, Math.abs(value));
        }
      }
    }
    Object.assign(this, { steps, columns, least });
  }

  // A row of the product into c[to], …: each sum starts at x[from], … and takes, in order, the row
  // a[at], a[at + stride], … of the left matrix, without its zeros, times a column of b.
  row(a, at, stride, c, to, x, from) {
    const { places, factors, columns, steps } = this;
    let found = 0, least = Infinity;
    for (let k = 0; k < steps; k++, at += stride) {
      const value = a[at];
      if (value === 0) continue;
      places[found] = 8 * k;
      factors[found++] = value;
      least = Math.min(least, Math.abs(value));
    }
    const quick = least * this.least >= NORMAL || !found;
    for (let j = 0; j < columns; j += 8) {
      if (quick && this.eight(found, j * this.steps, c, to + j, x, from + j)) continue;
      for (let k = j; k < j + 8; k++) c[to + k] = this.one(found, j * this.steps + k - j, x[from + k]);
    }
  }

  one(found, start, sum) {
    const { panels, places, factors } = this;
    for (let s = 0; s < found; s++) sum = fma(factors[s], panels[start + places[s]], sum);
    return sum;
  }

  // As `one`, but stops and returns false where a sum is half-way between two float32 numbers: the
  // last 29 of its bits are then 1 0 … 0. In sums below 2⁻¹²⁶ other bits are, but these are exact if
  // no product is smaller than `NORMAL`.
  eight(found, start, c, to, x, from) {
    const { panels, places, factors, sums, words } = this;
    let r0 = x[from], r1 = x[from + 1], r2 = x[from + 2], r3 = x[from + 3],
      r4 = x[from + 4], r5 = x[from + 5], r6 = x[from + 6], r7 = x[from + 7];
    for (let s = 0; s < found; s++) {
      const a = factors[s], at = start + places[s];
      r0 = f((sums[0] = a * panels[at] + r0));
      r1 = f((sums[1] = a * panels[at + 1] + r1));
      r2 = f((sums[2] = a * panels[at + 2] + r2));
      r3 = f((sums[3] = a * panels[at + 3] + r3));
      r4 = f((sums[4] = a * panels[at + 4] + r4));
      r5 = f((sums[5] = a * panels[at + 5] + r5));
      r6 = f((sums[6] = a * panels[at + 6] + r6));
      r7 = f((sums[7] = a * panels[at + 7] + r7));
      if (words[0] << 3 === HALF || words[2] << 3 === HALF || words[4] << 3 === HALF) return false;
      if (words[6] << 3 === HALF || words[8] << 3 === HALF || words[10] << 3 === HALF) return false;
      if (words[12] << 3 === HALF || words[14] << 3 === HALF) return false;
    }
    c[to] = r0;
    c[to + 1] = r1;
    c[to + 2] = r2;
    c[to + 3] = r3;
    c[to + 4] = r4;
    c[to + 5] = r5;
    c[to + 6] = r6;
    c[to + 7] = r7;
    return true;
  }
}
