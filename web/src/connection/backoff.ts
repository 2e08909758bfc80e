// Retry delays. The first retry is immediate. After that, the upper bound for the delay doubles each time: up to 2 s
// for about half a minute, and up to 10 s after that. Delays have full jitter, so that a thousand browsers don't
// reconnect at the same moment after the gateway restarts.

/**
 * Delay before the first retry, in milliseconds. Most interruptions are short, so it's just long enough for the old
 * socket to close.
 */
export const FIRST_RETRY = 50;
/** Upper bound for the second delay, in milliseconds. */
const BASE = 200;
/**
 * Upper bound for each delay during the first `SHORT_ATTEMPTS` attempts, in milliseconds. It is short because most
 * outages are short.
 */
export const SHORT_WAIT = 2_000;
/** Number of attempts with short delays. Together, they take half a minute on average. */
export const SHORT_ATTEMPTS = 30;
/** Upper bound for any delay, in milliseconds. */
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
