// The client's end of a connection, without I/O: `receive` takes a message and returns the resulting event,
// `dataToSend` returns the messages to send. It knows nothing about sockets, timers, terminals, or earlier and later
// connections.
//
// There are two kinds of error: ProtocolViolation if the server is at fault (close the connection), and MisuseError if
// the caller is.

import { ChannelLedger, EVENT_OVERHEAD } from "./channel";
import { HawseError, MisuseError, ProtocolViolation } from "./errors";
import { decodeFrame, encodeFrame, INPUT, MAX_CHANNEL } from "./frames";
import { memberText, utf8Length } from "./json-slice";
import { DEFAULT_LIMITS, encodeMessage, parseServerMessage } from "./messages";
import type { Call, ChannelEvent, ClientMessage, Frame, Limits, ServerMessage, Welcome } from "./protocol";

/**
 * An event that was received. `cost` has been subtracted from the channel's window; return it with `consume` once the
 * event has been processed.
 */
export type ConnectionEvent =
  | { readonly kind: "welcome"; readonly welcome: Welcome }
  | {
      readonly kind: "event";
      readonly ch: number;
      readonly name: string;
      readonly value: unknown;
      readonly cost: number;
    }
  | { readonly kind: "data"; readonly ch: number; readonly frame: Frame; readonly cost: number }
  | { readonly kind: "result"; readonly ch: number; readonly value: unknown }
  | { readonly kind: "error"; readonly ch: number; readonly error: HawseError }
  | { readonly kind: "credit"; readonly ch: number; readonly bytes: number }
  | { readonly kind: "pong"; readonly t: number }
  | { readonly kind: "goaway"; readonly reason: string; readonly retryAfter: number }
  /** An `error` without a channel, which states why the server is about to close the connection. */
  | { readonly kind: "fatal"; readonly error: HawseError };

export interface ConnectionOptions {
  /** The client's name and version, for the server's logs. */
  client: string;
  /** Initial credit for each new channel: the number of bytes that the server may send. */
  window: number;
}

export type CallOptions = Omit<Call, "type" | "ch" | "method">;

export class Connection {
  readonly #window: number;
  readonly #out: (string | Uint8Array<ArrayBuffer>)[] = [];
  readonly #channels = new Map<number, ChannelLedger>();
  #welcome: Welcome | undefined;
  #lastChannel = 0;

  constructor(options: ConnectionOptions) {
    const { client, window } = options;
    if (!(window >= 0 && window <= DEFAULT_LIMITS.window_max))
      throw new MisuseError(`window must be between 0 and ${DEFAULT_LIMITS.window_max} bytes, not ${window}`);
    this.#window = window;
    this.#send({ type: "hello", protocol: 1, client, window });
  }

  get welcome(): Welcome | undefined {
    return this.#welcome;
  }

  get limits(): Limits {
    return this.#welcome?.limits ?? DEFAULT_LIMITS;
  }

  /** The state of an open channel, for tests and diagnostics. */
  ledger(ch: number): Pick<ChannelLedger, "state" | "incoming" | "outgoing"> | undefined {
    return this.#channels.get(ch);
  }

  dataToSend(): (string | Uint8Array<ArrayBuffer>)[] {
    return this.#out.splice(0);
  }

  // ---- sending

  /**
   * Opens a channel. Throws HawseError if the parameters can't be sent, because the server would otherwise end the
   * connection.
   */
  call(method: string, options: CallOptions = {}): number {
    if (!this.#welcome) throw new MisuseError("cannot call before welcome");
    if (this.#lastChannel === MAX_CHANNEL) throw new MisuseError("all channel numbers are used");
    // Each call on a connection must use a higher channel number than all calls before it (docs/wire.md section 2).
    const ch = this.#lastChannel + 1;
    const { input_window, window_max, text } = this.limits;
    const message = encodeCall({ type: "call", ch, method, ...options }, text);
    this.#lastChannel = ch;
    this.#channels.set(ch, new ChannelLedger(this.#window, input_window, window_max));
    this.#out.push(message);
    return ch;
  }

  /** Number of input bytes that may be sent now; 0 on a closed channel. */
  inputCredit(ch: number): number {
    return this.#channels.get(ch)?.inputCredit ?? 0;
  }

  input(ch: number, offset: number, payload: Uint8Array): void {
    const frame = encodeFrame({ kind: INPUT, ch, offset, payload });
    this.#open(ch).spendInput(payload.length);
    this.#out.push(frame);
  }

  end(ch: number): void {
    this.#open(ch).advance("end");
    this.#send({ type: "end", ch });
  }

  /** Cancels the channel; does nothing if it is closing or closed. */
  cancel(ch: number): void {
    const ledger = this.#channels.get(ch);
    if (!ledger?.may("cancel")) return;
    ledger.advance("cancel");
    this.#send({ type: "cancel", ch });
  }

  /** Immediately grants the server another `bytes` bytes. */
  grant(ch: number, bytes: number): void {
    this.#grant(ch, this.#channels.get(ch)?.grant(bytes) ?? 0);
  }

  /** Returns `bytes` of credit to the server, in batches. Does nothing on a closed channel. */
  consume(ch: number, bytes: number): void {
    this.#grant(ch, this.#channels.get(ch)?.consume(bytes) ?? 0);
  }

  ping(t: number): void {
    this.#send({ type: "ping", t });
  }

  // ---- receiving

  /** Processes a message. Throws ProtocolViolation; the connection can't be used after that. */
  receive(data: string | Uint8Array): ConnectionEvent | undefined {
    if (typeof data !== "string") return this.#receiveFrame(decodeFrame(data));
    return this.#receiveMessage(parseServerMessage(data), data);
  }

  #receiveFrame(frame: Frame): ConnectionEvent {
    const { ch, kind, payload } = frame;
    if (kind === INPUT) throw new ProtocolViolation("protocol_error", "the server sent an input frame");
    this.#known(ch).receiveFrame(payload.length);
    return { kind: "data", ch, frame, cost: payload.length };
  }

  #receiveMessage(message: ServerMessage, text: string): ConnectionEvent | undefined {
    if (message.type !== "welcome" && message.type !== "error" && !this.#welcome) {
      throw new ProtocolViolation("protocol_error", `the server sent ${message.type} before welcome`);
    }
    switch (message.type) {
      case "welcome":
        if (this.#welcome) throw new ProtocolViolation("protocol_error", "the server sent a second welcome");
        this.#welcome = message;
        return { kind: "welcome", welcome: message };
      case "event":
        return this.#receiveEvent(message, text);
      case "result":
        this.#close(message.ch);
        return { kind: "result", ch: message.ch, value: message.value };
      case "error": {
        const error = HawseError.from(message);
        if (message.ch === undefined) return { kind: "fatal", error };
        this.#close(message.ch);
        return { kind: "error", ch: message.ch, error };
      }
      case "credit":
        this.#known(message.ch).receiveCredit(message.bytes);
        return { kind: "credit", ch: message.ch, bytes: message.bytes };
      case "ping":
        this.#send({ type: "pong", t: message.t });
        return undefined;
      case "pong":
        return { kind: "pong", t: message.t };
      case "goaway":
        return { kind: "goaway", reason: message.reason, retryAfter: message.retry_after };
    }
  }

  #receiveEvent(message: ChannelEvent, text: string): ConnectionEvent {
    const { ch, name, value } = message;
    const cost = utf8Length(memberText(text, "value") ?? "") + EVENT_OVERHEAD;
    this.#known(ch).receiveEvent(cost);
    return { kind: "event", ch, name, value, cost };
  }

  #close(ch: number): void {
    this.#known(ch);
    this.#channels.delete(ch);
  }

  /**
   * Returns an open channel. Throws ProtocolViolation for any other channel, because the server must not send anything
   * on a channel that was never opened, or after the channel's `result` or `error`.
   */
  #known(ch: number): ChannelLedger {
    const ledger = this.#channels.get(ch);
    if (ledger) return ledger;
    const what = ch <= this.#lastChannel ? "closed" : "unknown";
    throw new ProtocolViolation(
      "protocol_error",
      `the server sent a message on channel ${ch}, which is ${what}`,
    );
  }

  #open(ch: number): ChannelLedger {
    const ledger = this.#channels.get(ch);
    if (!ledger) throw new MisuseError(`channel ${ch} is not open`);
    return ledger;
  }

  #grant(ch: number, bytes: number): void {
    if (bytes > 0) this.#send({ type: "credit", ch, bytes });
  }

  #send(message: ClientMessage): void {
    this.#out.push(encodeMessage(message));
  }
}

function encodeCall(call: Call, limit: number): string {
  let text: string;
  try {
    text = encodeMessage(call);
  } catch (problem) {
    throw new HawseError("invalid_params", `the parameters of ${call.method} are not JSON: ${problem}`);
  }
  const size = utf8Length(text);
  if (size <= limit) return text;
  throw new HawseError(
    "too_large",
    `the parameters of ${call.method} have ${size} bytes; the limit is ${limit}`,
  );
}
