// Measures the round-trip time and detects dead connections. It sends a ping every few seconds. If no message arrives
// within a time limit after a ping, the connection is considered dead, even if the operating system reports it as open.

/** Milliseconds between pings. Common proxies close connections that are idle for 60 s. */
export const PING_INTERVAL = 5_000;
/**
 * Milliseconds between the first pings, which are more frequent because a round trip while the page is loading measures
 * the page rather than the network.
 */
const FIRST_PINGS = 4;
const FIRST_PING_INTERVAL = 1_000;
/** How long to wait for a message after a ping before the connection is considered dead, in milliseconds. */
export const RESPONSE_TIMEOUT = 10_000;
/**
 * How long to wait for a message after `probe` is called, in milliseconds. `probe` is called when the connection may be
 * dead, for example after the computer has woken up.
 */
export const PROBE_TIMEOUT = 3_000;
/** Number of round trips used for the median, so that one slow pong doesn't change the displayed time. */
const SAMPLES = 10;

export interface HeartbeatOptions {
  /** Sends a ping that carries `t`. */
  ping(t: number): void;
  /** Called when the connection is dead. */
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

  /** Sends a ping immediately, and allows less time than usual for an answer. */
  probe(): void {
    this.received();
    this.#deadline = setTimeout(() => this.#options.dead(), PROBE_TIMEOUT);
    this.#options.ping(this.#now());
  }

  /**
   * Called when a message has arrived. Any message counts, because on a slow network a pong can be queued behind a
   * whole window of output.
   */
  received(): void {
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
    // A second ping must not extend the deadline for an unanswered one.
    this.#deadline ??= setTimeout(() => this.#options.dead(), RESPONSE_TIMEOUT);
    const delay = ++this.#beats < FIRST_PINGS ? FIRST_PING_INTERVAL : PING_INTERVAL;
    this.#timer = setTimeout(() => this.#next(), delay);
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
