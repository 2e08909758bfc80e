// How long to wait before the next attempt: the first at once, then up to twice as long each time, with full jitter,
// so that a thousand browsers do not come back in step after a gateway's restart.

/** Milliseconds. A cut is most often over at once, so the first retry only leaves room for the old line to be closed. */
export const FIRST_RETRY = 50;
const BASE = 200;
export const LONGEST_WAIT = 10_000;

export class Backoff {
  #attempts = 0;
  readonly #random: () => number;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  get attempts(): number {
    return this.#attempts;
  }

  next(): number {
    const attempt = this.#attempts++;
    if (attempt === 0) return FIRST_RETRY;
    const ceiling = Math.min(LONGEST_WAIT, BASE * 2 ** Math.min(attempt - 1, 16));
    return Math.max(FIRST_RETRY, Math.round(this.#random() * ceiling));
  }

  reset(): void {
    this.#attempts = 0;
  }
}
