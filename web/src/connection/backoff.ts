// Retry delays: the first retry is immediate, then the upper bound doubles, with full jitter, so that a thousand
// browsers do not reconnect at the same moment after the gateway restarts.

/** Milliseconds. Most interruptions are short, so the first retry only waits until the old socket is closed. */
export const FIRST_RETRY = 50;
/** Milliseconds: upper bound of the second delay. */
const BASE = 200;
/** Milliseconds: upper bound of every delay. */
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

  /** Counts an attempt and returns the delay before it, in milliseconds. */
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
