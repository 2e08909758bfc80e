// Retry delays: the first retry is immediate, then the upper bound doubles, to 2 s for about half a minute and to 10 s
// later, with full jitter, so that a thousand browsers do not reconnect at the same moment after the gateway restarts.

/** Milliseconds. Most interruptions are short, so the first retry only waits until the old socket is closed. */
export const FIRST_RETRY = 50;
/** Milliseconds: upper bound of the second delay. */
const BASE = 200;
/** Milliseconds: upper bound of the delays before the first `SHORT_ATTEMPTS` attempts: most outages are short. */
export const SHORT_WAIT = 2_000;
/** They take half a minute on average. */
export const SHORT_ATTEMPTS = 30;
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
    const longest = attempt < SHORT_ATTEMPTS ? SHORT_WAIT : LONGEST_WAIT;
    const ceiling = Math.min(longest, BASE * 2 ** Math.min(attempt - 1, 16));
    return Math.max(FIRST_RETRY, Math.round(this.#random() * ceiling));
  }

  reset(): void {
    this.#attempts = 0;
  }
}
