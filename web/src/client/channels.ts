// The open channels of the current connection and their handlers. A channel never outlives its connection: keyed
// calls and terminals open a new channel on the next one.

import type { CallOptions, Connection, ConnectionEvent } from "../wire/connection";
import { type HawseError, interrupted } from "../wire/errors";
import type { Frame } from "../wire/protocol";

const STARTING = "starting";

/** The progress of a starting sandbox: `SandboxStarting` in docs/methods.md. */
export interface SandboxStarting {
  /** The current step, as one word. */
  readonly phase: string;
  readonly message?: string;
  /** How much of the phase is complete, from 0 to 1. */
  readonly progress?: number;
}

export interface ChannelHandlers {
  /** Pass `cost` to `consume` once the event has been processed. */
  event?(name: string, value: unknown, cost: number): void;
  /** The call's sandbox is starting. Any call can receive this event, which isn't one of its method's own events. */
  starting?(progress: SandboxStarting): void;
  data?(frame: Frame, cost: number): void;
  /** The server has applied another `bytes` bytes of input. */
  credit?(bytes: number): void;
  /** Either `result` or `error` is called exactly once, after all other callbacks. */
  result(value: unknown): void;
  error(error: HawseError): void;
}

/** An open channel. Once the channel or its connection has ended, its methods do nothing. */
export interface Channel {
  readonly inputCredit: number;
  input(offset: number, payload: Uint8Array): void;
  end(): void;
  cancel(): void;
  consume(bytes: number): void;
}

interface Entry {
  readonly method: string;
  readonly handlers: ChannelHandlers;
}

export class Channels {
  readonly #flush: () => void;
  readonly #starting: (progress: SandboxStarting) => void;
  readonly #open = new Map<number, Entry>();
  #connection: Connection | undefined;

  /** `starting` is called with the progress while a call waits for its sandbox to start. */
  constructor(flush: () => void, starting: (progress: SandboxStarting) => void = () => {}) {
    this.#flush = flush;
    this.#starting = starting;
  }

  /** Opens a channel. Returns undefined if there is no live connection. */
  open(method: string, options: CallOptions, handlers: ChannelHandlers): Channel | undefined {
    const connection = this.#connection;
    if (!connection) return undefined;
    const ch = connection.call(method, options);
    this.#open.set(ch, { method, handlers });
    this.#flush();
    const alive = () => this.#connection === connection && this.#open.has(ch);
    const act = (action: () => void) => {
      if (!alive()) return;
      action();
      this.#flush();
    };
    return {
      get inputCredit() {
        return alive() ? connection.inputCredit(ch) : 0;
      },
      input: (offset, payload) => act(() => connection.input(ch, offset, payload)),
      end: () => act(() => connection.end(ch)),
      cancel: () => act(() => connection.cancel(ch)),
      consume: bytes => act(() => connection.consume(ch, bytes)),
    };
  }

  connectionOpened(connection: Connection): void {
    this.#connection = connection;
  }

  connectionLost(): void {
    this.#connection = undefined;
    const entries = [...this.#open.values()];
    this.#open.clear();
    for (const { method, handlers } of entries) handlers.error(interrupted(method));
  }

  receive(event: ConnectionEvent): void {
    if (!("ch" in event)) return;
    const { ch } = event;
    const handlers = this.#open.get(ch)?.handlers;
    switch (event.kind) {
      case "event":
        if (event.name === STARTING) {
          this.#connection?.consume(ch, event.cost);
          handlers?.starting?.(event.value as SandboxStarting);
          this.#starting(event.value as SandboxStarting);
        } else if (handlers?.event) handlers.event(event.name, event.value, event.cost);
        else this.#connection?.consume(ch, event.cost);
        break;
      case "data":
        if (handlers?.data) handlers.data(event.frame, event.cost);
        else this.#connection?.consume(ch, event.cost);
        break;
      case "credit":
        handlers?.credit?.(event.bytes);
        break;
      case "result":
        this.#open.delete(ch);
        handlers?.result(event.value);
        break;
      case "error":
        this.#open.delete(ch);
        handlers?.error(event.error);
    }
  }
}
