// A clock for measuring ages. It never goes backwards and advances while the machine sleeps. No browser clock does both
// on every system: `performance.now()` stops during sleep on Linux and macOS, and `Date.now()` follows changes to the
// system date.

/**
 * Returns readings from two clocks, in milliseconds: one that ignores date changes, and one that advances during sleep.
 */
export type Readings = () => readonly [monotonic: number, date: number];

export class SteadyClock {
  readonly #read: Readings;
  #last: readonly [number, number];
  #elapsed = 0;

  constructor(read: Readings = () => [performance.now(), Date.now()]) {
    this.#read = read;
    this.#last = read();
  }

  /**
   * Returns the milliseconds since the clock was created. If the two system clocks have advanced differently since the
   * previous reading, the larger advance is used: if the age of a repeated call is too large, the call is merely
   * refused, but if it's too small, the call could run twice.
   */
  now(): number {
    const [monotonic, date] = this.#read();
    const [monotonicBefore, dateBefore] = this.#last;
    this.#last = [monotonic, date];
    this.#elapsed += Math.max(monotonic - monotonicBefore, date - dateBefore, 0);
    return this.#elapsed;
  }
}
