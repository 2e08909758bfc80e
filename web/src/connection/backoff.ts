// Retry delays. The first retry is immediate. Then the upper bound of the delay doubles, up to 2 s for about half a
// minute and up to 10 s later. Delays have full jitter, so that a thousand browsers do not reconnect at the same moment
// after the gateway restarts.

/**
 * Milliseconds before the first retry. Most interruptions are short, so it waits only until the old socket is closed.
 */
export const FIRST_RETRY = 50;
/** Upper bound of the second delay in milliseconds. */
const BASE = 200;
/**
 * Upper bound in milliseconds of the delays before the first `SHORT_ATTEMPTS` attempts, because most outages are short.
 */
export const SHORT_WAIT = 2_000;
/** Number of attempts with short delays. They take half a minute on average. */
export const SHORT_ATTEMPTS = 30;
/** Upper bound of every delay in milliseconds. */
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
