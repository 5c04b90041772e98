// Products of matrices as chains of fused multiply-adds, eight at a time, for the processor has other
// work while one sum is rounded.
const HALF = -(2 ** 31), NORMAL = 2 ** -125;
const SUMS = new Float64Array(8), WORDS = new Int32Array(SUMS.buffer);

// A matrix in an array, row by row from a start on.
function matrix(values, start, rows, columns) {
  return { values, start, rows, columns, rowStride: columns, columnStride: 1 };
}

function transposed({ values, start, rows, columns }) {
  return { values, start, rows: columns, columns: rows, rowStride: 1, columnStride: columns };
}

class Product {
  // For left matrices of so many elements, and sums of so many products.
  constructor(elements, steps) {
    this.places = new Int32Array(elements + 1);
    this.factors = new Float64Array(elements + 1);
    this.panel = new Float64Array(8 * steps);
  }

  // a · b into c, row by row; the sums of each row start at x[from], … Whole eights are written:
  // what spills over the end of a row is overwritten by the next row or, as the last panel comes
  // first, by the next panel, and arrays are longer by eight.
  multiply(a, b, c, x, from) {
    const { ends, least } = this.list(a), last = Math.ceil(b.columns / 8) * 8 - 8;
    for (let j = last; j >= 0; j -= 8) {
      const quick = least * this.fill(b, j) >= NORMAL;
      for (let i = 0, to = j, first = 0; i < a.rows; first = ends[i++], to += b.columns) {
        if (quick && this.eight(first, ends[i], c, to, x, from + j)) continue;
        for (let m = 0; m < 8; m++) c[to + m] = this.one(first, ends[i], m, x[from + j + m]);
      }
    }
  }

  // Lists the elements of a that aren't 0, row by row, with their places in the panel; returns
  // where each row ends, and the least magnitude.
  list({ values, start, rows, columns, rowStride, columnStride }) {
    const { places, factors } = this, ends = new Int32Array(rows);
    let found = 0, least = Infinity;
    for (let i = 0; i < rows; i++) {
      for (let k = 0, at = start + i * rowStride; k < columns; k++, at += columnStride) {
        places[found] = 8 * k;
        factors[found] = values[at];
        found += (values[at] !== 0) | 0; // not an `if`, which the processor would often guess wrong
      }
      ends[i] = found;
    }
    for (let s = 0; s < found; s++) least = Math.min(least, Math.abs(factors[s]));
    return { ends, least };
  }

  // Copies eight columns of b from column j on into the panel, step by step, with zeros behind the
  // last; returns the least magnitude but 0.
  fill({ values, start, rows, columns, rowStride, columnStride }, j) {
    const { panel } = this;
    let least = Infinity;
    for (let k = 0, to = 0; k < rows; k++) {
      for (let m = j; m < j + 8; m++) {
        const value = m < columns ? values[start + k * rowStride + m * columnStride] : 0;
        panel[to++] = value;
        if (value !== 0) least = Math.min(least, Math.abs(value));
      }
    }
    return least;
  }

  one(s, end, m, sum) {
    const { places, factors, panel } = this;
    for (; s < end; s++) sum = fma(factors[s], panel[places[s] + m], sum);
    return sum;
  }

  // As `one`, but stops and returns false where a sum is half-way between two float32 numbers: the
  // last 29 of its bits are then 1 0 … 0. In sums below 2⁻¹²⁶ other bits are, but these are exact if
  // no product is smaller than `NORMAL`.
  eight(s, end, c, to, x, from) {
    const { places, factors, panel } = this;
    let r0 = x[from], r1 = x[from + 1], r2 = x[from + 2], r3 = x[from + 3],
      r4 = x[from + 4], r5 = x[from + 5], r6 = x[from + 6], r7 = x[from + 7];
    for (; s < end; s++) {
      const a = factors[s], at = places[s];
      r0 = f((SUMS[0] = a * panel[at] + r0));
      r1 = f((SUMS[1] = a * panel[at + 1] + r1));
      r2 = f((SUMS[2] = a * panel[at + 2] + r2));
      r3 = f((SUMS[3] = a * panel[at + 3] + r3));
      r4 = f((SUMS[4] = a * panel[at + 4] + r4));
      r5 = f((SUMS[5] = a * panel[at + 5] + r5));
      r6 = f((SUMS[6] = a * panel[at + 6] + r6));
      r7 = f((SUMS[7] = a * panel[at + 7] + r7));
      if (WORDS[0] << 3 === HALF || WORDS[2] << 3 === HALF || WORDS[4] << 3 === HALF) return false;
      if (WORDS[6] << 3 === HALF || WORDS[8] << 3 === HALF || WORDS[10] << 3 === HALF) return false;
      if (WORDS[12] << 3 === HALF || WORDS[14] << 3 === HALF) return false;
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
