// Products of matrices as chains of fused multiply-adds, eight chains at a time, for the processor
// has other work while one sum is rounded. Eight columns of the right matrix at a time are copied
// into a panel, of a size that is constant: with places that `& WITHIN` bounds, the browser's
// compiler sees that none lies outside, and checks none.
const HALF = -(2 ** 31), NORMAL = 2 ** -125, STEPS = 2 ** 17;
const PANEL = new Float64Array(8 * STEPS + 8), WITHIN = 8 * STEPS - 1;
const SUMS = new Float64Array(8), WORDS = new Int32Array(SUMS.buffer);

// A matrix in an array, row by row from a start on.
function matrix(values, start, rows, columns) {
  return { values, start, rows, columns, rowStride: columns, columnStride: 1 };
}

function transposed({ values, start, rows, columns }) {
  return { values, start, rows: columns, columns: rows, rowStride: 1, columnStride: columns };
}

class Product {
  // For left matrices of so many elements.
  constructor(elements) {
    this.places = new Int32Array(elements + 1);
    this.factors = new Float64Array(elements + 1);
  }

  // a · b into c, row by row; the sums of each row start at x[from], … Whole eights are written:
  // what spills over the end of a row is overwritten by the next row or, as the last panel comes
  // first, by the next panel, and arrays are longer by eight.
  multiply(a, b, c, x, from) {
    if (b.rows > STEPS) throw new RangeError(`sums of ${b.rows} products; this page adds up to ${STEPS}`);
    const { ends, least } = this.list(a), last = Math.ceil(b.columns / 8) * 8 - 8;
    for (let j = last; j >= 0; j -= 8) {
      const quick = least * fillPanel(b, j) >= NORMAL;
      for (let i = 0, to = j, first = 0; i < a.rows; first = ends[i++], to += b.columns) {
        if (quick && this.eight(first, ends[i], c, to, x, from + j)) continue;
        for (let m = 0; m < 8; m++) c[to + m] = this.one(first, ends[i], m, x[from + j + m]);
      }
    }
  }

  // Lists the elements of a that aren't 0, row by row, with their places in a panel; returns where
  // each row ends, and the least magnitude.
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

  one(s, end, m, sum) {
    const { places, factors } = this;
    for (; s < end; s++) sum = fma(factors[s], PANEL[places[s] + m], sum);
    return sum;
  }

  // As `one`, but stops and returns false where a sum is half-way between two float32 numbers: the
  // last 29 of its bits are then 1 0 … 0. In sums below 2⁻¹²⁶ other bits are, but these are exact if
  // no product is smaller than `NORMAL`.
  eight(s, end, c, to, x, from) {
    const { places, factors } = this;
    let r0 = x[from], r1 = x[from + 1], r2 = x[from + 2], r3 = x[from + 3],
      r4 = x[from + 4], r5 = x[from + 5], r6 = x[from + 6], r7 = x[from + 7];
    for (; s < end; s++) {
      const a = factors[s], at = places[s] & WITHIN;
      r0 = f((SUMS[0] = a * PANEL[at] + r0));
      r1 = f((SUMS[1] = a * PANEL[at + 1] + r1));
      r2 = f((SUMS[2] = a * PANEL[at + 2] + r2));
      r3 = f((SUMS[3] = a * PANEL[at + 3] + r3));
      r4 = f((SUMS[4] = a * PANEL[at + 4] + r4));
      r5 = f((SUMS[5] = a * PANEL[at + 5] + r5));
      r6 = f((SUMS[6] = a * PANEL[at + 6] + r6));
      r7 = f((SUMS[7] = a * PANEL[at + 7] + r7));
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

// Copies eight columns of b from column j on, step by step, with zeros behind the last; returns the
// least magnitude but 0.
function fillPanel({ values, start, rows, columns, rowStride, columnStride }, j) {
  let least = Infinity;
  for (let k = 0, to = 0; k < rows; k++) {
    for (let m = j; m < j + 8; m++) {
      const value = m < columns ? values[start + k * rowStride + m * columnStride] : 0;
      PANEL[to++] = value;
      if (value !== 0) least = Math.min(least, Math.abs(value));
    }
  }
  return least;
}
