// The client's state for a channel: its phase and the two credit windows (docs/wire.md sections 2 and 4).
//
//   state        the client may send
//   open         input, end → ended, cancel → cancelling, credit
//   ended        cancel → cancelling, credit
//   cancelling   credit
//   (closed)     nothing: the channel is removed

import { MisuseError, ProtocolViolation } from "./errors";

export type State = "open" | "ended" | "cancelling";
type Verb = "input" | "end" | "cancel" | "credit";

/** State → messages that may be sent in that state → next state. */
const TABLE: Record<State, Partial<Record<Verb, State>>> = {
  open: { input: "open", end: "ended", cancel: "cancelling", credit: "open" },
  ended: { cancel: "cancelling", credit: "ended" },
  cancelling: { credit: "cancelling" },
};

/** Number of bytes that an event costs in addition to the encoded length of its value. */
export const EVENT_OVERHEAD = 64;

/**
 * Upper limit for a batched grant, in bytes. The server estimates the client's speed from grants, so they must not come
 * late.
 */
const MAX_BATCH = 65_536;

export class ChannelLedger {
  #state: State = "open";
  /** Number of bytes that the server may still send. An event can make it negative. */
  #incoming: number;
  /** Bytes consumed but not yet granted back to the server. */
  #consumed = 0;
  /** Number of input bytes that the client may still send. */
  #outgoing: number;
  readonly #batch: number;
  readonly #windowMax: number;

  constructor(window: number, inputWindow: number, windowMax: number) {
    this.#incoming = window;
    this.#outgoing = inputWindow;
    this.#batch = Math.max(1, Math.min(Math.floor(window / 4), MAX_BATCH));
    this.#windowMax = windowMax;
  }

  get state(): State {
    return this.#state;
  }

  /**
   * Number of bytes that the server may still send; negative after an event that cost more than the remaining window.
   */
  get incoming(): number {
    return this.#incoming;
  }

  /** Number of input bytes granted but not used, in any state. */
  get outgoing(): number {
    return this.#outgoing;
  }

  get inputCredit(): number {
    return this.#state === "open" ? this.#outgoing : 0;
  }

  /** Moves to the next state. Throws MisuseError if `TABLE` doesn't allow `verb` in the current state. */
  advance(verb: Verb): void {
    const next = TABLE[this.#state][verb];
    if (!next) throw new MisuseError(`cannot send ${verb} on a channel in state ${this.#state}`);
    this.#state = next;
  }

  may(verb: Verb): boolean {
    return TABLE[this.#state][verb] !== undefined;
  }

  spendInput(bytes: number): void {
    this.advance("input");
    if (bytes > this.#outgoing)
      throw new MisuseError(`${bytes} bytes of input exceed the granted ${this.#outgoing}`);
    this.#outgoing -= bytes;
  }

  receiveCredit(bytes: number): void {
    // The window never exceeds its maximum; a larger grant is reduced (docs/wire.md section 4).
    this.#outgoing = Math.min(this.#outgoing + bytes, this.#windowMax);
  }

  receiveFrame(bytes: number): void {
    // A frame must fit into the remaining window.
    if (bytes > this.#incoming) {
      throw new ProtocolViolation(
        "credit_exceeded",
        `${bytes} bytes of data exceed the granted ${this.#incoming}`,
      );
    }
    this.#incoming -= bytes;
  }

  receiveEvent(cost: number): void {
    // An event may be sent while the window is positive, even if it makes the window negative.
    if (this.#incoming <= 0)
      throw new ProtocolViolation("credit_exceeded", "an event arrived while the window was empty");
    this.#incoming -= cost;
  }

  /** Returns how many of `bytes` to grant; 0 in a state that doesn't allow `credit` messages. */
  grant(bytes: number): number {
    if (!this.may("credit")) return 0;
    this.#incoming = Math.min(this.#incoming + bytes, this.#windowMax);
    return bytes;
  }

  /**
   * Records `bytes` as processed. Returns the number of bytes to grant now, which is 0 until a quarter of the window
   * has been consumed.
   */
  consume(bytes: number): number {
    this.#consumed += bytes;
    if (this.#consumed < this.#batch) return 0;
    const grant = Math.min(this.#consumed, this.#windowMax);
    this.#consumed -= grant;
    return this.grant(grant);
  }
}
