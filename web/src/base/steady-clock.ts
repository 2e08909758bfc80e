// A clock for measuring ages. It never goes backwards and advances while the machine sleeps. No browser clock does both
// on every system: `performance.now()` stops during sleep on Linux and macOS, and `Date.now()` follows changes of the
// system date.

/**
 * Returns two readings in milliseconds: from a clock that ignores date changes, and from a clock that advances during
 * sleep.
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
   * Returns the milliseconds since the clock was created. Between two calls, the longer of the two measurements counts:
   * with an age that is too large, a repetition is only refused, but with an age that is too small, a call could run
   * twice.
   */
  now(): number {
    const [monotonic, date] = this.#read();
    const [monotonicBefore, dateBefore] = this.#last;
    this.#last = [monotonic, date];
    this.#elapsed += Math.max(monotonic - monotonicBefore, date - dateBefore, 0);
    return this.#elapsed;
  }
}
