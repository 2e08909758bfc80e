// Is the line alive, and how long does it take? A ping every few seconds; the answers give the round-trip time, and a
// line that says nothing at all for too long after a ping is dead, whatever the operating system still believes.

/** Milliseconds between pings: well below the 60 s after which common proxies cut an idle line. */
export const PING_EVERY = 5_000;
/** The first few come sooner: a page has just loaded, and its first answer says more of that than of the line. */
const FIRST_PINGS = 4;
const FIRST_PINGS_EVERY = 1_000;
/** Milliseconds without a sign of life after a ping. */
export const DEAD_AFTER = 10_000;
/** The same, when there is reason for doubt: the laptop has just woken up. */
export const PROBE_DEAD_AFTER = 3_000;
/** The time shown is the median of so many: one slow answer is no news. */
const SAMPLES = 10;

export interface HeartbeatOptions {
  /** Sends a ping that carries `t`. */
  ping(t: number): void;
  dead(): void;
  /** Round-trip time in milliseconds. */
  roundTrip(median: number): void;
  now?: () => number;
}

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #now: () => number;
  readonly #samples: number[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #beats = 0;
  #deadline: ReturnType<typeof setTimeout> | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  start(): void {
    this.stop();
    this.#beats = 0;
    this.#next();
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
  }

  /** Asks now, and does not wait long for the answer. */
  probe(): void {
    this.heard();
    this.#deadline = setTimeout(() => this.#options.dead(), PROBE_DEAD_AFTER);
    this.#options.ping(this.#now());
  }

  /** Anything that arrives is a sign of life: on a slow line a pong may wait behind a window of output. */
  heard(): void {
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
  }

  receivePong(t: number): void {
    this.#samples.push(Math.max(0, this.#now() - t));
    if (this.#samples.length > SAMPLES) this.#samples.shift();
    this.#options.roundTrip(median(this.#samples));
  }

  #next(): void {
    this.#options.ping(this.#now());
    // While an answer is being waited for, asking again must not move the deadline.
    this.#deadline ??= setTimeout(() => this.#options.dead(), DEAD_AFTER);
    const delay = ++this.#beats < FIRST_PINGS ? FIRST_PINGS_EVERY : PING_EVERY;
    this.#timer = setTimeout(() => this.#next(), delay);
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
