// A terminal as the server keeps it: a journal by absolute offset, the sizes it has had, and the input of each stream.

import type { Opened } from "../../src/wire/methods";

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

  slice(from: number, to?: number): Uint8Array {
    return Uint8Array.from(this.#journal.slice(from, to));
  }

  resize(cols: number, rows: number): void {
    this.sizes.push({ offset: this.end, cols, rows });
  }

  sizeAt(offset: number): Resize {
    return this.sizes.filter(size => size.offset <= offset).at(-1) ?? (this.sizes[0] as Resize);
  }

  /** Stands for the screen as it was at `from`: unlike any output, so that a test sees which is which. */
  snapshot(from: number): Uint8Array {
    return new TextEncoder().encode(`<screen at ${from}>`);
  }

  /** Returns how many bytes were new, or undefined for a gap. */
  apply(input: string, offset: number, payload: Uint8Array): number | undefined {
    const applied = this.inputs.get(input) ?? 0;
    if (offset > applied) return undefined;
    const fresh = payload.subarray(applied - offset);
    this.typed.push(...fresh);
    this.inputs.set(input, applied + fresh.length);
    return fresh.length;
  }

  describe(): Omit<Opened, "start_at" | "from" | "screen" | "input_offset"> {
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
