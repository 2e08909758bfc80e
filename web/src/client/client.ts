// A client of one gateway: calls, and channels to build on. Terminals and other objects that outlive a connection
// are built from these.

import { type Disposable, Emitter } from "../base/disposables";
import {
  type ConnectionState,
  ReconnectingConnection,
  type ReconnectingOptions,
} from "../connection/reconnecting";
import type { CallOptions, Connection } from "../wire/connection";
import { HawseError } from "../wire/errors";
import type { Welcome } from "../wire/protocol";
import { type CallArguments, Calls, type MethodName, type MethodResult } from "./calls";
import { type Channel, type ChannelHandlers, Channels, type SandboxStarting } from "./channels";
import { type SandboxHandle, sandboxHandle } from "./sandbox";

/** Initial credit of each channel in bytes: bandwidth × round-trip time of a good network. */
export const DEFAULT_WINDOW = 524_288;

export interface ClientOptions extends Partial<Omit<ReconnectingOptions, "base">> {
  /** The gateway's URL; default: the page's directory. */
  base?: URL | string;
}

export class HawseClient {
  readonly #connection: ReconnectingConnection;
  readonly #channels: Channels;
  readonly #calls: Calls;
  readonly #onStarting = new Emitter<SandboxStarting>();
  #roundTrip: number | undefined;
  #welcome: Welcome | undefined;

  constructor(options: ClientOptions = {}) {
    const base = new URL(options.base ?? ".", typeof document === "undefined" ? undefined : document.baseURI);
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
    this.#calls = new Calls((method, callOptions, handlers) => this.open(method, callOptions, handlers));
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
    });
    connection.onState(state => this.#updateCalls(state));
  }

  /** A sandbox that a call waits for is being started. */
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

  /** The last `welcome` message of the server. */
  get welcome(): Welcome | undefined {
    return this.#welcome;
  }

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
   * Calls a method; its name determines the types of its parameters and its result. Waits for a connection. If the connection is lost, a call with a `key` is repeated and a call
   * without one throws `interrupted`. Throws HawseError.
   */
  async call<M extends MethodName>(
    method: M,
    ...[params = {}, request = {}]: CallArguments<M>
  ): Promise<MethodResult<M>> {
    return (await this.#calls.call(method, params, request)) as MethodResult<M>;
  }

  /** The sandbox `id` with its methods: `client.sandbox("local").exec("make")`. */
  sandbox(id = "local"): SandboxHandle {
    return sandboxHandle(this, id);
  }

  /** No call can succeed any more: the client is closed, or the gateway refuses it. */
  onFatal(listener: (error: HawseError) => void): Disposable {
    return this.onState(state => {
      if (state.phase === "closed") listener(new HawseError("cancelled", "the client is closed"));
      else if (state.phase === "failed") listener(state.reason);
    });
  }

  /** Opens a channel on the current connection; undefined while there is none (`onUp` fires when there is). */
  open(method: string, options: CallOptions, handlers: ChannelHandlers): Channel | undefined {
    return this.#channels.open(method, options, handlers);
  }

  #updateCalls(state: ConnectionState): void {
    if (state.phase === "closed") this.#calls.stop(new HawseError("cancelled", "the client is closed"));
    else if (state.phase === "failed") this.#calls.stop(state.reason);
    else this.#calls.resume();
  }
}
