// A clock for ages: it never goes back, and runs while the machine sleeps. No clock of a browser does both on each
// system: `performance.now()` stops during sleep on Linux and macOS, and `Date.now()` follows changes of the date.

/** Two readings in milliseconds, of a clock that ignores the date and of one that runs during sleep. */
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
   * Returns milliseconds since the clock was created. Of each interval between two calls the longer measurement counts:
   * an age that is too large only refuses a repetition, one that is too small lets a call run twice.
   */
  now(): number {
    const [monotonic, date] = this.#read();
    const [monotonicBefore, dateBefore] = this.#last;
    this.#last = [monotonic, date];
    this.#elapsed += Math.max(monotonic - monotonicBefore, date - dateBefore, 0);
    return this.#elapsed;
  }
}
