// Arithmetic of a training: float32 operations, each rounded once, as
// amol/engine/arithmetic.py writes them down. A float64 operation on float32 numbers
// that is then rounded by `f` is exact for + − × ÷ and the square root; fma takes more.
const f = Math.fround;
const BITS = new Int32Array(1), FLOAT = new Float32Array(BITS.buffer);
const TINY = f(1e-30);

// a·b + c with a single rounding. The product q is exact in float64; the sum s is rounded there and
// again to float32, r. Twice is as once unless s lies half-way between two float32 numbers. Where it
// is next to that, a bit more of the same brings another number than r.
function fma(a, b, c) {
  const q = a * b, s = q + c, r = f(s);
  return f(s + (s - r) * NUDGE) === r ? r : f(settle(q, c, s, r)); // this f tells the compiler: a number
}
const NUDGE = 2 ** -20;

// A number that rounds as q + c, where the float64 sum s lies half-way or next to it: half-way, r has
// a float32 number for its mirror image in s, and the sum's own error says to which side it goes.
function settle(q, c, s, r) {
  const mirrored = s - r + s, t = s - q, error = q - (s - t) + (c - t);
  if (f(mirrored) !== mirrored || error === 0) return r;
  return s + Math.sign(error) * Math.abs(s) * 2 ** -52;
}

const LOG2_E = f(1.4426950408889634), LN2_HIGH = f(0.693359375), LN2_LOW = f(-2.1219444e-4);
const EXP = [
  1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1,
].map(f);
const LOG = [
  7.0376836292e-2, -1.151461031e-1, 1.167699874e-1, -1.2420140846e-1, 1.4249322787e-1,
  -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
].map(f);
const ROOT_HALF = f(0.5 ** 0.5), SHIFT = 12582912; // 1.5 · 2²³: adding it rounds to an integer

// e^x for x at most 1, from below −87 on e^−87.
function exp32(x) {
  if (x < -87) x = -87;
  const n = f(f(f(x * LOG2_E) + SHIFT) - SHIFT);
  let r = f(x - f(n * LN2_HIGH));
  r = f(r - f(n * LN2_LOW));
  let y = EXP[0];
  for (let k = 1; k < 6; k++) y = f(f(y * r) + EXP[k]);
  y = f(f(f(f(y * r) * r) + r) + 1);
  BITS[0] = (n + 127) << 23;
  return f(y * FLOAT[0]);
}

// log x for normal positive x.
function log32(x) {
  FLOAT[0] = x;
  let n = (BITS[0] >> 23) - 126;
  BITS[0] = (BITS[0] & 0x007fffff) | 0x3f000000;
  let m = FLOAT[0];
  if (m < ROOT_HALF) {
    n -= 1;
    m = f(f(m + m) - 1);
  } else m = f(m - 1);
  const square = f(m * m);
  let y = f(LOG[0] * m);
  for (let k = 1; k < 8; k++) y = f(f(y + LOG[k]) * m);
  y = f(f(f(y + LOG[8]) * m) * square);
  y = f(y + f(n * LN2_LOW));
  y = f(y - f(0.5 * square));
  return f(f(m + y) + f(n * LN2_HIGH));
}
