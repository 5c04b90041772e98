// NumPy's RandomState, whose stream is frozen: the Mersenne twister MT19937 of Matsumoto and
// Nishimura, begun from one integer, and two of the draws that NumPy makes of it.
class RandomState {
  constructor(seed) {
    this.state = new Uint32Array(624);
    this.state[0] = seed;
    for (let i = 1; i < 624; i++) {
      const last = this.state[i - 1] ^ (this.state[i - 1] >>> 30);
      this.state[i] = Math.imul(1812433253, last) + i;
    }
    this.at = 624;
  }

  twist() {
    const state = this.state;
    for (let i = 0; i < 624; i++) {
      const y = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7fffffff);
      state[i] = state[(i + 397) % 624] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.at = 0;
  }

  // A whole number from 0 to 2³² − 1.
  next() {
    if (this.at === 624) this.twist();
    let y = this.state[this.at++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  // A float64 number from 0 to below 1, of 53 bits.
  sample() {
    const high = this.next() >>> 5, low = this.next() >>> 6;
    return (high * 67108864 + low) / 9007199254740992;
  }

  // A whole number from 0 to `most`: as many bits as `most` has, drawn until they are no greater.
  interval(most) {
    if (most === 0) return 0;
    const mask = 0xffffffff >>> Math.clz32(most);
    let value;
    do value = (this.next() & mask) >>> 0;
    while (value > most);
    return value;
  }

  // 0 … n − 1 shuffled from the end.
  permutation(n) {
    const order = Int32Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) {
      const j = this.interval(i);
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  }
}
