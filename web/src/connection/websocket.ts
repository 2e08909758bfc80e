// A single WebSocket, from the ticket to its end. Passes messages between the socket and a sans-I/O Connection, and
// reports exactly once how the socket ended and whether to retry.

import { after } from "../base/after";
import { DisposableList } from "../base/disposables";
import { Connection, type ConnectionEvent, type ConnectionOptions } from "../wire/connection";
import { HawseError, ProtocolViolation } from "../wire/errors";
import { Heartbeat } from "./heartbeat";
import { requestTicket } from "./tickets";

export const SUBPROTOCOL = "hawse.v1";
/**
 * Timeout in seconds from the start until `welcome`, so that a network that drops packets doesn't block the client for
 * minutes.
 */
export const CONNECT_TIMEOUT = 10;
/** Minimum delay before retrying after close code 4429 (overload), in milliseconds. */
const BACKLOG_DELAY = 2_000;
/**
 * The close code that the client sends if the server violated the protocol. Browsers can send only 1000 and 3000 to
 * 4999.
 */
const CLOSE_VIOLATION = 3_008;

export type NextAction = "retry" | "sign-in" | "stop";

/** Close codes that aren't retried, mapped to an action and an error (docs/wire.md section 7). */
const FINAL: Record<number, readonly [NextAction, string]> = {
  1007: ["stop", "invalid_message"],
  1008: ["stop", "protocol_error"],
  1009: ["stop", "too_large"],
  4401: ["sign-in", "unauthenticated"],
  4403: ["stop", "forbidden"],
};

/** A `ClientSocket` event, with the fields for its type. */
export interface SocketEvent {
  readonly type: string;
  /** Set for `message`: text or an ArrayBuffer. */
  readonly data?: unknown;
  /** Of `close`. */
  readonly code?: number;
  readonly reason?: string;
  /** Set in `error` events, except in browsers. */
  readonly message?: string;
}

/** The parts of a WebSocket that a client uses. Browsers, Node 22 and the `ws` package provide them. */
export interface ClientSocket {
  binaryType: string;
  readonly readyState: number;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
  addEventListener(
    type: "open" | "message" | "close" | "error",
    listener: (event: SocketEvent) => void,
  ): void;
}

export interface ConnectionEnd {
  action: NextAction;
  error: HawseError;
  /** Minimum delay before the retry, in milliseconds. */
  notBefore: number;
}

export interface TransportOptions extends ConnectionOptions {
  /** The gateway's URL: the directory that contains `v1/`. */
  base: URL;
  token: string;
  /** Opens a WebSocket; defaults to the global WebSocket in browsers and Node 22. */
  openSocket?: ((url: string, protocol: string) => ClientSocket) | undefined;
  /** Timeout in seconds for each connection attempt; default: 10. */
  connectTimeout?: number | undefined;
  ticket?: (base: URL, token: string, signal: AbortSignal) => Promise<string>;
}

export interface TransportHandlers {
  /** Called when `welcome` has arrived. */
  up(connection: Connection): void;
  event(event: ConnectionEvent): void;
  roundTrip(milliseconds: number): void;
  /** Called exactly once, after all other callbacks. */
  down(end: ConnectionEnd): void;
}

export class WebSocketTransport {
  readonly connection: Connection;
  readonly #options: TransportOptions;
  readonly #handlers: TransportHandlers;
  readonly #abort = new AbortController();
  readonly #disposables = new DisposableList();
  readonly #heartbeat: Heartbeat;
  #socket: ClientSocket | undefined;
  /** The text of the socket's latest error. */
  #socketError = "";
  #ended = false;
  #notBefore = 0;
  /** The `error` message without a channel that the server sent before closing. */
  #fatalError: HawseError | undefined;

  constructor(options: TransportOptions, handlers: TransportHandlers) {
    this.#options = options;
    this.#handlers = handlers;
    this.connection = new Connection({ client: options.client, window: options.window });
    this.#heartbeat = new Heartbeat({
      ping: t => {
        this.connection.ping(t);
        this.flush();
      },
      dead: () => this.drop(unavailable("the gateway stopped responding")),
      roundTrip: median => handlers.roundTrip(median),
    });
    this.#disposables.defer(() => this.#heartbeat.stop());
    this.#disposables.defer(() => this.#abort.abort());
    const { connectTimeout = CONNECT_TIMEOUT } = options;
    const seconds = Number.isFinite(connectTimeout) ? connectTimeout : CONNECT_TIMEOUT;
    const timer = after(seconds * 1000, () =>
      this.drop(unavailable(`the gateway did not answer within ${seconds} s`)),
    );
    this.#disposables.add(timer);
    void this.#connect(() => timer.dispose());
  }

  /** Sends all of the connection's pending messages. */
  flush(): void {
    if (this.#socket?.readyState !== 1) return;
    for (const message of this.connection.dataToSend()) this.#socket.send(message);
  }

  /** Checks that the connection still works. */
  probe(): void {
    if (this.connection.welcome) this.#heartbeat.probe();
  }

  /** Ends the connection with `error`. */
  drop(error: HawseError, action: NextAction = "retry", code = 1000): void {
    this.#end({ action, error, notBefore: this.#notBefore }, code);
  }

  async #connect(onWelcome: () => void): Promise<void> {
    const { base, token, openSocket = (url, protocol) => new WebSocket(url, protocol) } = this.#options;
    let ticket: string;
    try {
      ticket = await (this.#options.ticket ?? requestTicket)(base, token, this.#abort.signal);
    } catch (problem) {
      const error =
        problem instanceof HawseError ? problem : unavailable(`there is no ticket: ${textOf(problem)}`);
      const action = error.code === "unauthenticated" ? "sign-in" : error.retryable ? "retry" : "stop";
      this.#end({ action, error, notBefore: 0 });
      return;
    }
    if (this.#ended) return;
    try {
      this.#open(openSocket(connectUrl(base, ticket), SUBPROTOCOL), onWelcome);
    } catch (problem) {
      // The URL or the page's security policy doesn't allow the connection, so a retry would fail as well.
      const error = new HawseError("invalid_params", `cannot open a WebSocket: ${textOf(problem)}`);
      this.#end({ action: "stop", error, notBefore: 0 });
    }
  }

  #open(socket: ClientSocket, onWelcome: () => void): void {
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    socket.addEventListener("open", () => this.#ended || this.flush());
    socket.addEventListener("message", event => this.#ended || this.#receive(event.data, onWelcome));
    socket.addEventListener("close", event => this.#ended || this.#closed(event));
    // A `close` event follows. Without a listener, an error from the `ws` package would end the process, even after the
    // connection has ended.
    socket.addEventListener("error", event => {
      this.#socketError = event.message ?? "";
    });
  }

  #receive(data: unknown, onWelcome: () => void): void {
    this.#heartbeat.received();
    let event: ConnectionEvent | undefined;
    try {
      event = this.connection.receive(typeof data === "string" ? data : new Uint8Array(data as ArrayBuffer));
    } catch (problem) {
      if (!(problem instanceof ProtocolViolation)) throw problem;
      this.drop(problem, "stop", CLOSE_VIOLATION);
      return;
    }
    if (event) this.#dispatch(event, onWelcome);
    this.flush();
  }

  #dispatch(event: ConnectionEvent, onWelcome: () => void): void {
    switch (event.kind) {
      case "welcome":
        onWelcome();
        this.#handlers.up(this.connection);
        this.#heartbeat.start();
        break;
      case "pong":
        this.#heartbeat.receivePong(event.t);
        break;
      case "goaway":
        this.#notBefore = event.retryAfter * 1000;
        break;
      case "fatal":
        this.#fatalError = event.error;
        break;
      default:
        this.#handlers.event(event);
    }
  }

  #closed({ code = 1006, reason = "" }: SocketEvent): void {
    const [action, errorCode] = FINAL[code] ?? (["retry", "unavailable"] as const);
    const lost = this.#socketError ? `connection lost: ${this.#socketError}` : "connection lost";
    const text = reason || (code === 1006 ? lost : `the gateway closed the connection with code ${code}`);
    const error = this.#fatalError ?? new HawseError(errorCode, text);
    this.#end({ action, error, notBefore: code === 4429 ? BACKLOG_DELAY : this.#notBefore });
  }

  #end(end: ConnectionEnd, code = 1000): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#disposables.dispose();
    if (this.#socket && this.#socket.readyState < 2) this.#socket.close(code);
    this.#handlers.down(end);
  }
}

function connectUrl(base: URL, ticket: string): string {
  const url = new URL("v1/connect", base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.searchParams.set("ticket", ticket);
  return url.href;
}

function textOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}

function unavailable(text: string): HawseError {
  return new HawseError("unavailable", text);
}
