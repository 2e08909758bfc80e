// A client's connection to a gateway: calls, and channels for terminals and other objects that outlive a connection.
// `hawse-client.ts` adds sandboxes.

import { after } from "../base/after";
import { type Disposable, Emitter } from "../base/disposables";
import {
  type ConnectionState,
  ReconnectingConnection,
  type ReconnectingOptions,
} from "../connection/reconnecting";
import { CONNECT_TIMEOUT } from "../connection/websocket";
import type { CallOptions, Connection } from "../wire/connection";
import { HawseError } from "../wire/errors";
import type { Welcome } from "../wire/protocol";
import { type CallArguments, Calls, clock, type MethodName, type MethodResult } from "./calls";
import { type Channel, type ChannelHandlers, Channels, type SandboxStarting } from "./channels";

/** Initial credit for each channel in bytes: the bandwidth × round-trip time of a good network. */
export const DEFAULT_WINDOW = 524_288;

/** How long to repeat a call with a key while its sandbox is unavailable, in seconds. */
const UNAVAILABLE_GIVE_UP = 30;

/** Options for a page that shows the connection state and lets users sign in: calls wait indefinitely. */
export const PATIENT = {
  connectTimeout: Number.POSITIVE_INFINITY,
  unavailableGiveUp: Number.POSITIVE_INFINITY,
} as const;

export interface ClientOptions extends Partial<Omit<ReconnectingOptions, "base">> {
  /** The gateway's URL; defaults to the page's directory. */
  base?: URL | string | undefined;
  /**
   * Timeout in seconds for each connection attempt; default: 10. A call that has waited this long for a connection
   * throws `unavailable`, but a call that had already been sent when the connection was lost waits longer. With
   * Infinity, all calls wait indefinitely, even for the user to sign in (`signIn`).
   */
  connectTimeout?: number | undefined;
  /** How long to repeat a call with a key while its sandbox is unavailable, in seconds; default: 30. */
  unavailableGiveUp?: number | undefined;
}

export class GatewayClient {
  readonly #connection: ReconnectingConnection;
  readonly #channels: Channels;
  readonly #calls: Calls;
  readonly #onStarting = new Emitter<SandboxStarting>();
  readonly #connectTimeout: number;
  /** How long to repeat a call with a key while its sandbox is unavailable, in seconds. */
  readonly unavailableGiveUp: number;
  /** Why the latest connection attempt failed. */
  #problem = "the gateway has not answered";
  #roundTrip: number | undefined;
  #welcome: Welcome | undefined;

  constructor(options: ClientOptions = {}) {
    const base = new URL(options.base ?? ".", typeof document === "undefined" ? undefined : document.baseURI);
    this.#connectTimeout = options.connectTimeout ?? CONNECT_TIMEOUT;
    this.unavailableGiveUp = options.unavailableGiveUp ?? UNAVAILABLE_GIVE_UP;
    const connection = new ReconnectingConnection({
      client: "hawse-js/0.1",
      window: DEFAULT_WINDOW,
      ...options,
      base,
    });
    this.#connection = connection;
    this.#channels = new Channels(
      () => connection.flush(),
      progress => this.#onStarting.emit(progress),
    );
    this.#calls = new Calls(this);
    this.onState = connection.onState;
    this.onUp = connection.onUp;
    this.onRoundTrip = connection.onRoundTrip;
    connection.onUp(live => {
      this.#welcome = live.welcome;
      this.#channels.connectionOpened(live);
      this.#calls.connectionOpened();
    });
    connection.onDown(() => this.#channels.connectionLost());
    connection.onEvent(event => this.#channels.receive(event));
    connection.onRoundTrip(milliseconds => {
      this.#roundTrip = milliseconds;
      clock.now();
    });
    connection.onState(state => {
      clock.now();
      if (state.phase === "waiting") this.#problem = state.reason.message;
      const { refusal } = this;
      if (refusal) this.#calls.stop(refusal);
      else this.#calls.resume();
    });
  }

  /** Fires when a call has to wait for its sandbox to start. */
  readonly onStarting = (listener: (progress: SandboxStarting) => void): Disposable =>
    this.#onStarting.on(listener);
  readonly onState: (listener: (state: ConnectionState) => void) => Disposable;
  readonly onUp: (listener: (connection: Connection) => void) => Disposable;
  readonly onRoundTrip: (listener: (milliseconds: number) => void) => Disposable;

  get state(): ConnectionState {
    return this.#connection.state;
  }

  /** The median round-trip time in milliseconds; undefined before the first pong. */
  get roundTrip(): number | undefined {
    return this.#roundTrip;
  }

  /** The latest `welcome` message from the server. */
  get welcome(): Welcome | undefined {
    return this.#welcome;
  }

  /**
   * Connects, and reconnects whenever the connection is lost, until `close` is called. Doesn't wait for the connection:
   * calls wait for it, and throw the reason if there is no connection.
   */
  connect(): void {
    this.#connection.connect();
  }

  signIn(token: string): void {
    this.#connection.signIn(token);
  }

  retryNow(): void {
    this.#connection.retryNow();
  }

  close(): void {
    this.#connection.close();
  }

  /**
   * Calls a method; its name determines the parameter and result types. Waits up to `connectTimeout` for a connection.
   * If the connection is lost, a call with a `key` is repeated, and a call without a `key` throws `interrupted`. Throws
   * HawseError.
   */
  async call<M extends MethodName>(
    method: M,
    ...[params = {}, request = {}]: CallArguments<M>
  ): Promise<MethodResult<M>> {
    return (await this.#calls.call(method, params, request)) as MethodResult<M>;
  }

  /**
   * Why no call can succeed now: the client is closed, the gateway refuses it, or it needs another token (`signIn`). If
   * undefined, calls are sent or wait for a connection.
   */
  get refusal(): HawseError | undefined {
    const { state } = this;
    if (state.phase === "closed") return new HawseError("cancelled", "the client is closed");
    if (state.phase === "failed") return state.reason;
    if (state.phase !== "signed-out" || this.#connectTimeout === Number.POSITIVE_INFINITY) return undefined;
    return state.reason ?? new HawseError("unauthenticated", "the client was created without a token");
  }

  /** Calls `listener` with the `refusal`: immediately if there is one, otherwise as soon as one occurs. */
  onRefusal(listener: (refusal: HawseError) => void): Disposable {
    const check = () => {
      const { refusal } = this;
      if (refusal) listener(refusal);
    };
    check();
    return this.onState(check);
  }

  /** Calls `fail` after `connectTimeout` unless disposed before then. */
  limitWait(fail: (error: HawseError) => void): Disposable {
    const seconds = this.#connectTimeout;
    return after(seconds * 1000, () => {
      const problem = this.state.phase === "idle" ? "connect() was not called" : this.#problem;
      fail(new HawseError("unavailable", `no connection within ${seconds} s: ${problem}`));
    });
  }

  /**
   * Opens a channel on the current connection; returns undefined if there is no connection (`onUp` fires once there is
   * one).
   */
  open(method: string, options: CallOptions, handlers: ChannelHandlers): Channel | undefined {
    return this.#channels.open(method, options, handlers);
  }
}
