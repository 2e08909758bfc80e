// One WebSocket, from the ticket to its end. It passes messages between the socket and a sans-I/O Connection, and
// reports exactly once how it ended and whether to retry.

import { DisposableList } from "../base/disposables";
import { Connection, type ConnectionEvent, type ConnectionOptions } from "../wire/connection";
import { HawseError, ProtocolViolation } from "../wire/errors";
import { Heartbeat } from "./heartbeat";
import { requestTicket } from "./tickets";

export const SUBPROTOCOL = "hawse.v1";
/** Milliseconds from the start to `welcome`: a network that drops packets must not block for minutes. */
export const CONNECT_TIMEOUT = 10_000;
/** Minimum delay in milliseconds before the retry after close code 4429 (too much load). */
const BACKLOG_DELAY = 2_000;
/** The close code that we send when the server broke the protocol. Browsers may only send 1000 and 3000 to 4999. */
const CLOSE_VIOLATION = 3_008;

export type NextAction = "retry" | "sign-in" | "stop";

/** Close code → action (docs/wire.md section 7). All other codes are retried. */
const ACTIONS: Record<number, NextAction> = {
  1007: "stop",
  1008: "stop",
  1009: "stop",
  4401: "sign-in",
  4403: "stop",
};

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
  openSocket?: (url: string, protocol: string) => WebSocket;
  ticket?: (base: URL, token: string, signal: AbortSignal) => Promise<string>;
}

export interface TransportHandlers {
  /** `welcome` has arrived. */
  up(connection: Connection): void;
  event(event: ConnectionEvent): void;
  roundTrip(milliseconds: number): void;
  /** Called exactly once, as the last call. */
  down(end: ConnectionEnd): void;
}

export class WebSocketTransport {
  readonly connection: Connection;
  readonly #options: TransportOptions;
  readonly #handlers: TransportHandlers;
  readonly #abort = new AbortController();
  readonly #disposables = new DisposableList();
  readonly #heartbeat: Heartbeat;
  #socket: WebSocket | undefined;
  #ended = false;
  #notBefore = 0;
  /** The `error` without a channel that the server sent before closing. */
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
    const timer = setTimeout(
      () => this.drop(unavailable("connecting to the gateway timed out")),
      CONNECT_TIMEOUT,
    );
    this.#disposables.defer(() => clearTimeout(timer));
    void this.#connect(() => clearTimeout(timer));
  }

  /** Sends all pending messages of the connection. */
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
    try {
      const ticket = await (this.#options.ticket ?? requestTicket)(base, token, this.#abort.signal);
      if (this.#ended) return;
      const socket = openSocket(connectUrl(base, ticket), SUBPROTOCOL);
      socket.binaryType = "arraybuffer";
      this.#socket = socket;
      this.#disposables.listen(socket, "open", () => this.flush());
      this.#disposables.listen<MessageEvent>(socket, "message", event =>
        this.#receive(event.data, onWelcome),
      );
      this.#disposables.listen<CloseEvent>(socket, "close", event => this.#closed(event));
    } catch (problem) {
      const error = problem instanceof HawseError ? problem : unavailable(String(problem));
      const action = error.code === "unauthenticated" ? "sign-in" : error.retryable ? "retry" : "stop";
      this.#end({ action, error, notBefore: 0 });
    }
  }

  #receive(data: string | ArrayBuffer, onWelcome: () => void): void {
    this.#heartbeat.received();
    let event: ConnectionEvent | undefined;
    try {
      event = this.connection.receive(typeof data === "string" ? data : new Uint8Array(data));
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

  #closed(event: CloseEvent): void {
    const action = ACTIONS[event.code] ?? "retry";
    const text =
      event.reason ||
      (event.code === 1006 ? "connection lost" : `the gateway closed the connection with code ${event.code}`);
    const error = this.#fatalError ?? (action === "sign-in" ? unauthenticated(text) : unavailable(text));
    this.#end({ action, error, notBefore: event.code === 4429 ? BACKLOG_DELAY : this.#notBefore });
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

function unavailable(text: string): HawseError {
  return new HawseError("unavailable", text);
}

function unauthenticated(text: string): HawseError {
  return new HawseError("unauthenticated", text);
}
