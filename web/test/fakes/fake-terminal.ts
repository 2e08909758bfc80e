// A terminal as the server stores it: a journal by absolute offset, the size changes, and the applied input of
// each stream.

import type { TerminalOpened } from "../../src/wire/methods";

export interface Resize {
  offset: number;
  cols: number;
  rows: number;
}

export class FakeTerminal {
  readonly id: string;
  instance: string;
  readonly sizes: Resize[] = [{ offset: 0, cols: 80, rows: 24 }];
  /** Bytes of input applied, all streams together, in order. */
  readonly typed: number[] = [];
  readonly inputs = new Map<string, number>();
  exit: { code: number | null; signal: string | null } | undefined;
  start = 0;
  #journal: number[] = [];

  constructor(id: string, instance: string) {
    this.id = id;
    this.instance = instance;
  }

  get end(): number {
    return this.#journal.length;
  }

  print(bytes: Iterable<number>): void {
    this.#journal.push(...bytes);
  }

  output(from: number, to?: number): Uint8Array {
    return Uint8Array.from(this.#journal.slice(from, to));
  }

  resize(cols: number, rows: number): void {
    this.sizes.push({ offset: this.end, cols, rows });
  }

  sizeAt(offset: number): Resize {
    return this.sizes.filter(size => size.offset <= offset).at(-1) ?? (this.sizes[0] as Resize);
  }

  /** A stand-in for the screen at `from`, different from any output so that tests can tell them apart. */
  snapshot(from: number): Uint8Array {
    return new TextEncoder().encode(`<screen at ${from}>`);
  }

  /** Applies input. Returns the number of new bytes, or undefined for a gap. */
  apply(input: string, offset: number, payload: Uint8Array): number | undefined {
    const applied = this.inputs.get(input) ?? 0;
    if (offset > applied) return undefined;
    const newPart = payload.subarray(applied - offset);
    this.typed.push(...newPart);
    this.inputs.set(input, applied + newPart.length);
    return newPart.length;
  }

  describe(): Omit<TerminalOpened, "start_at" | "from" | "screen" | "input_offset"> {
    const { cols, rows } = this.sizes.at(-1) as Resize;
    const { id, instance, start, end: offset } = this;
    const state = this.exit ? "exited" : "running";
    const common = {
      id,
      instance,
      pid: 4242,
      cols,
      rows,
      argv: ["bash"],
      cwd: "/",
      started: 1,
      start,
      offset,
      viewers: 1,
    };
    return this.exit ? { ...common, state, exit: this.exit } : { ...common, state };
  }
}
