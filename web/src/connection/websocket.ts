// One WebSocket, from the ticket to its end. It moves messages between the socket and a sans-I/O Connection, and says
// exactly once how it ended and what that means for trying again.

import { DisposableList } from "../base/disposables";
import { Connection, type ConnectionOptions, type Happening } from "../wire/connection";
import { HawseError, ProtocolViolation } from "../wire/errors";
import { Heartbeat } from "./heartbeat";
import { buyTicket } from "./tickets";

export const SUBPROTOCOL = "hawse.v1";
/** Milliseconds from the start to `welcome`: a network that swallows packets must not hold us for minutes. */
export const CONNECT_TIMEOUT = 10_000;
/** Milliseconds: the least to wait after 4429, "yes, later". */
const LATER = 2_000;
/** Our close code when the server broke the protocol; browsers may only send 1000 and 3000 to 4999. */
const CLOSE_VIOLATION = 3_008;

export type Verdict = "retry" | "sign-in" | "stop";

/** docs/wire.md section 7. What is not here is worth another try. */
const VERDICTS: Record<number, Verdict> = {
  1007: "stop",
  1008: "stop",
  1009: "stop",
  4401: "sign-in",
  4403: "stop",
};

export interface Ending {
  verdict: Verdict;
  error: HawseError;
  /** Milliseconds: not before. */
  notBefore: number;
}

export interface CarrierOptions extends ConnectionOptions {
  /** Where the gateway is: the directory that holds `v1/`. */
  base: URL;
  token: string;
  openSocket?: (url: string, protocol: string) => WebSocket;
  ticket?: (base: URL, token: string, signal: AbortSignal) => Promise<string>;
}

export interface CarrierHandlers {
  up(connection: Connection): void;
  happening(happening: Happening): void;
  roundTrip(milliseconds: number): void;
  /** Exactly once. Nothing follows. */
  down(ending: Ending): void;
}

export class Carrier {
  readonly connection: Connection;
  readonly #options: CarrierOptions;
  readonly #handlers: CarrierHandlers;
  readonly #abort = new AbortController();
  readonly #disposables = new DisposableList();
  readonly #heartbeat: Heartbeat;
  #socket: WebSocket | undefined;
  #ended = false;
  #notBefore = 0;
  /** The `error` without a channel that the server sent before closing. */
  #reason: HawseError | undefined;

  constructor(options: CarrierOptions, handlers: CarrierHandlers) {
    this.#options = options;
    this.#handlers = handlers;
    this.connection = new Connection({ client: options.client, window: options.window });
    this.#heartbeat = new Heartbeat({
      ping: t => {
        this.connection.ping(t);
        this.flush();
      },
      dead: () => this.drop(unavailable("the gateway has stopped answering")),
      roundTrip: median => handlers.roundTrip(median),
    });
    this.#disposables.defer(() => this.#heartbeat.stop());
    this.#disposables.defer(() => this.#abort.abort());
    const timer = setTimeout(() => this.drop(unavailable("no answer from the gateway")), CONNECT_TIMEOUT);
    this.#disposables.defer(() => clearTimeout(timer));
    void this.#connect(() => clearTimeout(timer));
  }

  /** Sends what the connection has to say. */
  flush(): void {
    if (this.#socket?.readyState !== 1) return;
    for (const message of this.connection.dataToSend()) this.#socket.send(message);
  }

  /** Is the line really still there? */
  probe(): void {
    if (this.connection.welcome) this.#heartbeat.probe();
  }

  /** Gives the line up. */
  drop(error: HawseError, verdict: Verdict = "retry", code = 1000): void {
    this.#end({ verdict, error, notBefore: this.#notBefore }, code);
  }

  async #connect(welcomed: () => void): Promise<void> {
    const { base, token, openSocket = (url, protocol) => new WebSocket(url, protocol) } = this.#options;
    try {
      const ticket = await (this.#options.ticket ?? buyTicket)(base, token, this.#abort.signal);
      if (this.#ended) return;
      const socket = openSocket(connectUrl(base, ticket), SUBPROTOCOL);
      socket.binaryType = "arraybuffer";
      this.#socket = socket;
      this.#disposables.listen(socket, "open", () => this.flush());
      this.#disposables.listen<MessageEvent>(socket, "message", event => this.#receive(event.data, welcomed));
      this.#disposables.listen<CloseEvent>(socket, "close", event => this.#closed(event));
    } catch (problem) {
      const error = problem instanceof HawseError ? problem : unavailable(String(problem));
      const verdict = error.code === "unauthenticated" ? "sign-in" : error.retryable ? "retry" : "stop";
      this.#end({ verdict, error, notBefore: 0 });
    }
  }

  #receive(data: string | ArrayBuffer, welcomed: () => void): void {
    this.#heartbeat.heard();
    let happening: Happening | undefined;
    try {
      happening = this.connection.receive(typeof data === "string" ? data : new Uint8Array(data));
    } catch (problem) {
      if (!(problem instanceof ProtocolViolation)) throw problem;
      this.drop(problem, "stop", CLOSE_VIOLATION);
      return;
    }
    if (happening) this.#dispatch(happening, welcomed);
    this.flush();
  }

  #dispatch(happening: Happening, welcomed: () => void): void {
    switch (happening.kind) {
      case "welcome":
        welcomed();
        this.#handlers.up(this.connection);
        this.#heartbeat.start();
        break;
      case "pong":
        this.#heartbeat.receivePong(happening.t);
        break;
      case "goaway":
        this.#notBefore = happening.retryAfter * 1000;
        break;
      case "fatal":
        this.#reason = happening.error;
        break;
      default:
        this.#handlers.happening(happening);
    }
  }

  #closed(event: CloseEvent): void {
    const verdict = VERDICTS[event.code] ?? "retry";
    const words = event.reason || (event.code === 1006 ? "the line broke" : `closed with ${event.code}`);
    const error = this.#reason ?? (verdict === "sign-in" ? unauthenticated(words) : unavailable(words));
    this.#end({ verdict, error, notBefore: event.code === 4429 ? LATER : this.#notBefore });
  }

  #end(ending: Ending, code = 1000): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#disposables.dispose();
    if (this.#socket && this.#socket.readyState < 2) this.#socket.close(code);
    this.#handlers.down(ending);
  }
}

function connectUrl(base: URL, ticket: string): string {
  const url = new URL("v1/connect", base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.searchParams.set("ticket", ticket);
  return url.href;
}

function unavailable(words: string): HawseError {
  return new HawseError("unavailable", words);
}

function unauthenticated(words: string): HawseError {
  return new HawseError("unauthenticated", words);
}
