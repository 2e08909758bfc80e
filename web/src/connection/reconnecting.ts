// The chain of connections that looks like one line: when one ends it decides whether, and when, the next begins.
//
//   idle ──connect──▶ connecting ──welcome──▶ live
//   connecting, live ──broken──▶ waiting ──time, wake, retryNow──▶ connecting
//   connecting, live ──401, 4401──▶ signed-out ──signIn──▶ connecting
//   connecting, live ──a bug, 4403──▶ failed ──retryNow──▶ connecting
//   any ──close──▶ closed

import { type Disposable, Emitter } from "../base/disposables";
import type { Connection, Happening } from "../wire/connection";
import { HawseError } from "../wire/errors";
import { Backoff } from "./backoff";
import { onWake } from "./resume-hints";
import { Carrier, type CarrierOptions, type Ending } from "./websocket";

export type LineState =
  | { readonly phase: "idle" | "live" | "closed" }
  | { readonly phase: "connecting"; readonly attempt: number }
  /** `retryAt`: by Date.now(). */
  | {
      readonly phase: "waiting";
      readonly attempt: number;
      readonly retryAt: number;
      readonly reason: HawseError;
    }
  | { readonly phase: "signed-out"; readonly reason?: HawseError }
  | { readonly phase: "failed"; readonly reason: HawseError };

export interface LineOptions extends Omit<CarrierOptions, "token"> {
  token?: string | undefined;
  random?: () => number;
}

export class Line {
  readonly #options: LineOptions;
  readonly #random: () => number;
  readonly #backoff: Backoff;
  readonly #onState = new Emitter<LineState>();
  readonly #onUp = new Emitter<Connection>();
  readonly #onDown = new Emitter<HawseError>();
  readonly #onHappening = new Emitter<Happening>();
  readonly #onRoundTrip = new Emitter<number>();
  readonly #wake: Disposable;
  #state: LineState = { phase: "idle" };
  #carrier: Carrier | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #token: string | undefined;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#token = options.token;
    this.#random = options.random ?? Math.random;
    this.#backoff = new Backoff(this.#random);
    this.#wake = onWake(() => this.wake());
  }

  readonly onState = this.#onState.on;
  /** A new connection has been welcomed. Channels of earlier ones are gone. */
  readonly onUp = this.#onUp.on;
  /** A connection that had been welcomed is gone. */
  readonly onDown = this.#onDown.on;
  readonly onHappening = this.#onHappening.on;
  /** Milliseconds: the median of the latest pings. */
  readonly onRoundTrip = this.#onRoundTrip.on;

  get state(): LineState {
    return this.#state;
  }

  /** The connection, while it is live. */
  get connection(): Connection | undefined {
    return this.#state.phase === "live" ? this.#carrier?.connection : undefined;
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

  /** Something has changed outside: a good moment to try, or to doubt. */
  wake(): void {
    if (this.#state.phase === "waiting") this.#attempt();
    else if (this.#state.phase === "live") this.#carrier?.probe();
  }

  flush(): void {
    this.#carrier?.flush();
  }

  close(): void {
    if (this.#state.phase === "closed") return;
    clearTimeout(this.#timer);
    this.#wake.dispose();
    const carrier = this.#carrier;
    this.#enter({ phase: "closed" });
    carrier?.drop(new HawseError("cancelled", "closed by this side"), "stop");
  }

  #attempt(): void {
    clearTimeout(this.#timer);
    if (!this.#token) {
      this.#enter({ phase: "signed-out" });
      return;
    }
    this.#enter({ phase: "connecting", attempt: this.#backoff.attempts });
    let up = false;
    this.#carrier = new Carrier(
      { ...this.#options, token: this.#token },
      {
        up: connection => {
          up = true;
          this.#enter({ phase: "live" });
          this.#onUp.emit(connection);
        },
        happening: happening => {
          // Not `welcome`: a gateway that greets and then falls over at once must not be asked in a tight loop.
          this.#backoff.reset();
          this.#onHappening.emit(happening);
        },
        roundTrip: milliseconds => this.#onRoundTrip.emit(milliseconds),
        down: ending => this.#down(ending, up),
      },
    );
  }

  #down(ending: Ending, wasUp: boolean): void {
    this.#carrier = undefined;
    const { error, verdict } = ending;
    if (this.#state.phase !== "closed") {
      if (verdict === "sign-in") {
        this.#token = undefined;
        this.#enter({ phase: "signed-out", reason: error });
      } else if (verdict === "stop") this.#enter({ phase: "failed", reason: error });
      else this.#wait(ending);
    }
    if (wasUp) this.#onDown.emit(error);
  }

  #wait({ error, notBefore }: Ending): void {
    const attempt = this.#backoff.attempts;
    // A gateway that said when to come back said so to everybody: spread a quarter of a second.
    const least = notBefore > 0 ? notBefore + this.#random() * 250 : 0;
    const delay = Math.max(this.#backoff.next(), least);
    this.#timer = setTimeout(() => this.#attempt(), delay);
    this.#enter({ phase: "waiting", attempt, retryAt: Date.now() + delay, reason: error });
  }

  #enter(state: LineState): void {
    this.#state = state;
    this.#onState.emit(state);
  }
}
