// What a client has to know about one channel: its state, and the two windows of credit (docs/wire.md sections 2 and 4).
//
//   state        we may send
//   open         input, end → ended, cancel → cancelling, credit
//   ended        cancel → cancelling, credit
//   cancelling   credit
//   (closed)     nothing: the channel is forgotten

import { MisuseError, ProtocolViolation } from "./errors";

export type State = "open" | "ended" | "cancelling";
type Verb = "input" | "end" | "cancel" | "credit";

/** state → what may be sent in it → the state that follows. */
const TABLE: Record<State, Partial<Record<Verb, State>>> = {
  open: { input: "open", end: "ended", cancel: "cancelling", credit: "open" },
  ended: { cancel: "cancelling", credit: "ended" },
  cancelling: { credit: "cancelling" },
};

/** An event costs its value's length and this: bytes. */
export const EVENT_OVERHEAD = 64;

/** Bytes: a server that learns from our grants how fast we are must not wait long for one. */
const BATCH_MOST = 65_536;

export class ChannelLedger {
  #state: State = "open";
  /** Bytes the server may still send. An event may overdraw it. */
  #incoming: number;
  /** Bytes consumed here and not yet granted again. */
  #owed = 0;
  /** Input bytes we may still send. */
  #outgoing: number;
  readonly #batch: number;
  readonly #windowMax: number;

  constructor(window: number, inputWindow: number, windowMax: number) {
    this.#incoming = window;
    this.#outgoing = inputWindow;
    this.#batch = Math.max(1, Math.min(Math.floor(window / 4), BATCH_MOST));
    this.#windowMax = windowMax;
  }

  get state(): State {
    return this.#state;
  }

  /** Bytes the server may still send; below 0 when an event has overdrawn it. */
  get incoming(): number {
    return this.#incoming;
  }

  /** Bytes of input granted and not used, whether or not the state lets us. */
  get outgoing(): number {
    return this.#outgoing;
  }

  get inputCredit(): number {
    return this.#state === "open" ? this.#outgoing : 0;
  }

  /** Throws MisuseError if the table does not allow it. */
  advance(verb: Verb): void {
    const next = TABLE[this.#state][verb];
    if (!next) throw new MisuseError(`${verb} on a channel that is ${this.#state}`);
    this.#state = next;
  }

  may(verb: Verb): boolean {
    return TABLE[this.#state][verb] !== undefined;
  }

  spendInput(bytes: number): void {
    this.advance("input");
    if (bytes > this.#outgoing) throw new MisuseError(`${bytes} bytes of input, ${this.#outgoing} granted`);
    this.#outgoing -= bytes;
  }

  receiveCredit(bytes: number): void {
    // "a grant that would lift it above is cut to it"
    this.#outgoing = Math.min(this.#outgoing + bytes, this.#windowMax);
  }

  receiveFrame(bytes: number): void {
    // "it MUST fit into what is left"
    if (bytes > this.#incoming) {
      throw new ProtocolViolation("credit_exceeded", `${bytes} bytes of data, ${this.#incoming} granted`);
    }
    this.#incoming -= bytes;
  }

  receiveEvent(cost: number): void {
    // "it needs a positive window and may overdraw it"
    if (this.#incoming <= 0) throw new ProtocolViolation("credit_exceeded", "an event without credit");
    this.#incoming -= cost;
  }

  /** Returns what to grant of `bytes`: nothing where nobody may. */
  grant(bytes: number): number {
    if (!this.may("credit")) return 0;
    this.#incoming = Math.min(this.#incoming + bytes, this.#windowMax);
    return bytes;
  }

  /** `bytes` are dealt with. Returns what to grant now: 0 until a quarter of the window has come together. */
  consume(bytes: number): number {
    this.#owed += bytes;
    if (this.#owed < this.#batch) return 0;
    const grant = Math.min(this.#owed, this.#windowMax);
    this.#owed -= grant;
    return this.grant(grant);
  }
}
