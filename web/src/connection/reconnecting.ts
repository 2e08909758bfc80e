// A connection that reconnects: when a WebSocket ends, it decides whether and when to open the next one.
//
//   idle ──connect──▶ connecting ──welcome──▶ live
//   connecting, live ──connection lost──▶ waiting ──timer, resume hint, retryNow──▶ connecting
//   connecting, live ──401, 4401──▶ signed-out ──signIn──▶ connecting
//   connecting, live ──protocol error, 4403──▶ failed ──retryNow──▶ connecting
//   any ──close──▶ closed

import { after } from "../base/after";
import { type Disposable, Emitter } from "../base/disposables";
import type { Connection, ConnectionEvent } from "../wire/connection";
import { HawseError } from "../wire/errors";
import { Backoff } from "./backoff";
import { onResumeHint } from "./resume-hints";
import { type ConnectionEnd, type TransportOptions, WebSocketTransport } from "./websocket";

export type ConnectionState =
  | { readonly phase: "idle" | "live" | "closed" }
  /** `since`: when the connection was lost, or the first attempt started, in milliseconds since 1970. */
  | { readonly phase: "connecting"; readonly attempt: number; readonly since: number }
  /** `retryAt`: the time of the next attempt, on the performance.now() clock. */
  | {
      readonly phase: "waiting";
      readonly attempt: number;
      readonly since: number;
      readonly retryAt: number;
      readonly reason: HawseError;
    }
  | { readonly phase: "signed-out"; readonly reason?: HawseError }
  | { readonly phase: "failed"; readonly reason: HawseError };

export interface ReconnectingOptions extends Omit<TransportOptions, "token"> {
  token?: string | undefined;
  random?: () => number;
}

export class ReconnectingConnection {
  readonly #options: ReconnectingOptions;
  readonly #random: () => number;
  readonly #backoff: Backoff;
  readonly #onState = new Emitter<ConnectionState>();
  readonly #onUp = new Emitter<Connection>();
  readonly #onDown = new Emitter<HawseError>();
  readonly #onEvent = new Emitter<ConnectionEvent>();
  readonly #onRoundTrip = new Emitter<number>();
  readonly #resumeHints: Disposable;
  #state: ConnectionState = { phase: "idle" };
  #transport: WebSocketTransport | undefined;
  #timer: Disposable | undefined;
  #token: string | undefined;
  /** See `ConnectionState`. */
  #since = 0;

  constructor(options: ReconnectingOptions) {
    this.#options = options;
    this.#token = options.token;
    this.#random = options.random ?? Math.random;
    this.#backoff = new Backoff(this.#random);
    this.#resumeHints = onResumeHint(() => this.resumeHint());
  }

  readonly onState = this.#onState.on;
  /** Fires when a new connection has received `welcome`. Channels from earlier connections are closed. */
  readonly onUp = this.#onUp.on;
  /** Fires when a connection that had received `welcome` has ended. */
  readonly onDown = this.#onDown.on;
  readonly onEvent = this.#onEvent.on;
  /** The median round-trip time of the latest pings, in milliseconds. */
  readonly onRoundTrip = this.#onRoundTrip.on;

  get state(): ConnectionState {
    return this.#state;
  }

  /** The current connection; undefined if it isn't live. */
  get connection(): Connection | undefined {
    return this.#state.phase === "live" ? this.#transport?.connection : undefined;
  }

  connect(): void {
    if (this.#state.phase === "idle") this.#attempt();
  }

  signIn(token: string): void {
    this.#token = token;
    const { phase } = this.#state;
    if (phase === "signed-out" || phase === "idle") this.retryNow();
  }

  retryNow(): void {
    const { phase } = this.#state;
    if (phase === "live" || phase === "connecting" || phase === "closed") return;
    this.#attempt();
  }

  /** Called when the environment has changed: retries immediately, or checks that the connection still works. */
  resumeHint(): void {
    if (this.#state.phase === "waiting") this.#attempt();
    else if (this.#state.phase === "live") this.#transport?.probe();
  }

  flush(): void {
    this.#transport?.flush();
  }

  close(): void {
    if (this.#state.phase === "closed") return;
    this.#timer?.dispose();
    this.#resumeHints.dispose();
    const transport = this.#transport;
    this.#enter({ phase: "closed" });
    transport?.drop(new HawseError("cancelled", "closed by the client"), "stop");
  }

  #attempt(): void {
    this.#timer?.dispose();
    if (!this.#token) {
      this.#enter({ phase: "signed-out" });
      return;
    }
    if (this.#state.phase !== "waiting") this.#since = Date.now();
    this.#enter({ phase: "connecting", attempt: this.#backoff.attempts, since: this.#since });
    let up = false;
    this.#transport = new WebSocketTransport(
      { ...this.#options, token: this.#token },
      {
        up: connection => {
          up = true;
          this.#enter({ phase: "live" });
          this.#onUp.emit(connection);
        },
        event: event => {
          // `welcome` doesn't reset the backoff: if a gateway fails right after it, the client must not retry in a
          // tight loop.
          this.#backoff.reset();
          this.#onEvent.emit(event);
        },
        roundTrip: milliseconds => this.#onRoundTrip.emit(milliseconds),
        down: end => this.#down(end, up),
      },
    );
  }

  #down(end: ConnectionEnd, wasUp: boolean): void {
    this.#transport = undefined;
    const { error, action } = end;
    if (this.#state.phase !== "closed") {
      if (action === "sign-in") {
        this.#token = undefined;
        this.#enter({ phase: "signed-out", reason: error });
      } else if (action === "stop") this.#enter({ phase: "failed", reason: error });
      else this.#wait(end);
    }
    if (wasUp) this.#onDown.emit(error);
  }

  #wait({ error, notBefore }: ConnectionEnd): void {
    const attempt = this.#backoff.attempts;
    if (this.#state.phase === "live") this.#since = Date.now();
    // The gateway sends the same delay to all clients, so add up to 250 ms of jitter.
    const least = notBefore > 0 ? notBefore + this.#random() * 250 : 0;
    const delay = Math.max(this.#backoff.next(), least);
    this.#timer = after(delay, () => this.#attempt());
    const retryAt = performance.now() + delay;
    this.#enter({ phase: "waiting", attempt, since: this.#since, retryAt, reason: error });
  }

  #enter(state: ConnectionState): void {
    this.#state = state;
    this.#onState.emit(state);
  }
}
