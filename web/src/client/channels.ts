// The open channels of the current connection, and who listens to each. A channel never outlives its connection:
// what has to (a keyed call, a terminal) opens another one.

import type { CallOptions, Connection, Happening } from "../wire/connection";
import { type HawseError, interrupted } from "../wire/errors";
import type { Frame } from "../wire/protocol";

export interface ChannelHandlers {
  /** `cost` is to be given back with `consume` when the event is dealt with. */
  event?(name: string, value: unknown, cost: number): void;
  data?(frame: Frame, cost: number): void;
  /** The server has applied so many bytes of input. */
  credit?(bytes: number): void;
  /** Exactly one of these two comes, and nothing after it. */
  result(value: unknown): void;
  error(error: HawseError): void;
}

/** One open channel. After its end, or its connection's, every method does nothing. */
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
  readonly #open = new Map<number, Entry>();
  #connection: Connection | undefined;

  constructor(flush: () => void) {
    this.#flush = flush;
  }

  /** Undefined while there is no live connection. */
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

  lineUp(connection: Connection): void {
    this.#connection = connection;
  }

  lineDown(): void {
    this.#connection = undefined;
    const entries = [...this.#open.values()];
    this.#open.clear();
    for (const { method, handlers } of entries) handlers.error(interrupted(method));
  }

  receive(happening: Happening): void {
    if (!("ch" in happening)) return;
    const { ch } = happening;
    const handlers = this.#open.get(ch)?.handlers;
    switch (happening.kind) {
      case "event":
        if (handlers?.event) handlers.event(happening.name, happening.value, happening.cost);
        else this.#connection?.consume(ch, happening.cost);
        break;
      case "data":
        if (handlers?.data) handlers.data(happening.frame, happening.cost);
        else this.#connection?.consume(ch, happening.cost);
        break;
      case "credit":
        handlers?.credit?.(happening.bytes);
        break;
      case "result":
        this.#open.delete(ch);
        handlers?.result(happening.value);
        break;
      case "error":
        this.#open.delete(ch);
        handlers?.error(happening.error);
    }
  }
}
