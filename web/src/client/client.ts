// A client of one gateway: calls, and channels to build on. Everything else that survives a broken line (terminals)
// is made of these.

import type { Disposable } from "../base/disposables";
import { Line, type LineOptions, type LineState } from "../connection/reconnecting";
import type { CallOptions, Connection } from "../wire/connection";
import { HawseError } from "../wire/errors";
import type { Welcome } from "../wire/protocol";
import { type CallRequest, Calls } from "./calls";
import { type Channel, type ChannelHandlers, Channels } from "./channels";

/** Bytes the server may have on its way to us on one channel: bandwidth × round trip of a good line. */
export const DEFAULT_WINDOW = 524_288;

export interface ClientOptions extends Partial<Omit<LineOptions, "base">> {
  /** Where the gateway is; the page's own directory by default. */
  base?: URL | string;
}

export class HawseClient {
  readonly #line: Line;
  readonly #channels: Channels;
  readonly #calls: Calls;
  #roundTrip: number | undefined;
  #welcome: Welcome | undefined;

  constructor(options: ClientOptions = {}) {
    const base = new URL(options.base ?? ".", typeof document === "undefined" ? undefined : document.baseURI);
    const line = new Line({ client: "hawse-web/0.1", window: DEFAULT_WINDOW, ...options, base });
    this.#line = line;
    this.#channels = new Channels(() => line.flush());
    this.#calls = new Calls((method, callOptions, handlers) => this.open(method, callOptions, handlers));
    this.onState = line.onState;
    this.onUp = line.onUp;
    this.onRoundTrip = line.onRoundTrip;
    line.onUp(connection => {
      this.#welcome = connection.welcome;
      this.#channels.lineUp(connection);
      this.#calls.lineUp();
    });
    line.onDown(() => this.#channels.lineDown());
    line.onHappening(happening => this.#channels.receive(happening));
    line.onRoundTrip(milliseconds => {
      this.#roundTrip = milliseconds;
    });
    line.onState(state => this.#judge(state));
  }

  readonly onState: (listener: (state: LineState) => void) => Disposable;
  readonly onUp: (listener: (connection: Connection) => void) => Disposable;
  readonly onRoundTrip: (listener: (milliseconds: number) => void) => Disposable;

  get state(): LineState {
    return this.#line.state;
  }

  /** Milliseconds: the median of the latest pings; undefined before the first answer. */
  get roundTrip(): number | undefined {
    return this.#roundTrip;
  }

  /** What the server said of itself and of us, when it last welcomed us. */
  get welcome(): Welcome | undefined {
    return this.#welcome;
  }

  connect(): void {
    this.#line.connect();
  }

  signIn(token: string): void {
    this.#line.signIn(token);
  }

  retryNow(): void {
    this.#line.retryNow();
  }

  close(): void {
    this.#line.close();
  }

  /** Throws HawseError. Waits for a line; with a `key` it survives broken ones, without it ends with `interrupted`. */
  async call<T>(method: string, params: object = {}, request: CallRequest = {}): Promise<T> {
    return (await this.#calls.call(method, params, request)) as T;
  }

  /** Opens a channel on the current connection; undefined while there is none (`onUp` says when there is). */
  open(method: string, options: CallOptions, handlers: ChannelHandlers): Channel | undefined {
    return this.#channels.open(method, options, handlers);
  }

  #judge(state: LineState): void {
    if (state.phase === "closed") this.#calls.stop(new HawseError("cancelled", "the client is closed"));
    else if (state.phase === "failed") this.#calls.stop(state.reason);
    else this.#calls.resume();
  }
}
