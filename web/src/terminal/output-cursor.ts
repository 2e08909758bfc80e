// Where the emulator is in the terminal's output: every byte is handed on once and in order, whatever line it came by.
// It knows offsets and the sink, nothing of channels.

import type { Opened, Reseed } from "../wire/methods";
import type { Frame } from "../wire/protocol";
import type { TerminalSink } from "./sink";

export class OutputCursor {
  readonly #sink: TerminalSink;
  #offset = 0;
  /** Bytes of the snapshot that are still to come; the emulator shows half a screen until then. */
  #screenLeft = 0;
  #screenAt = 0;
  #known = false;
  #live = false;
  #answers = false;

  constructor(sink: TerminalSink) {
    this.#sink = sink;
  }

  /** Offset behind the last byte of output handed on. */
  get offset(): number {
    return this.#offset;
  }

  /** Can `offset` be asked for, or is what the emulator shows not what was there at that byte? */
  get resumable(): boolean {
    return this.#known && this.#screenLeft === 0;
  }

  /** The next attach begins from nothing. */
  forget(): void {
    this.#known = false;
    this.#screenLeft = 0;
    this.#offset = 0;
  }

  /** False if the server says to resume where this cursor is not. */
  opened(opened: Opened): boolean {
    const { start_at, from, cols, rows } = opened;
    if (start_at === "snapshot") {
      this.#answers = opened.answers === true;
      this.snapshot(opened);
      return true;
    }
    if (start_at === "resume" && !(this.resumable && from === this.#offset)) return false;
    this.#replay();
    this.#answers = opened.answers === true;
    if (start_at === "resume") this.#sink.resize(cols, rows);
    else this.#sink.reset(cols, rows);
    this.#begin(from, 0);
    return true;
  }

  snapshot({ from, screen, cols, rows }: Reseed): void {
    this.#replay();
    this.#sink.reset(cols, rows);
    this.#begin(from, screen);
  }

  resize(cols: number, rows: number): void {
    this.#sink.resize(cols, rows);
  }

  /** The replay is over. */
  live(): void {
    this.#live = true;
    this.#sink.gate(this.#answers);
  }

  /** Another viewer, or this one, has been chosen to answer queries. */
  answers(mine: boolean): void {
    this.#answers = mine;
    if (this.#live) this.#sink.gate(mine);
  }

  /** False if the frame does not belong where the cursor is. */
  screen(frame: Frame, parsed: () => void): boolean {
    const { offset, payload } = frame;
    if (offset !== this.#screenAt || payload.length > this.#screenLeft) return false;
    this.#screenAt += payload.length;
    this.#screenLeft -= payload.length;
    this.#sink.write(payload, parsed);
    return true;
  }

  /** False if bytes are missing before the frame. What is known already is dropped. */
  output(frame: Frame, parsed: () => void): boolean {
    const { offset, payload } = frame;
    if (this.#screenLeft > 0 || offset > this.#offset) return false;
    const known = Math.min(payload.length, this.#offset - offset);
    this.#offset += payload.length - known;
    if (known === payload.length) parsed();
    else this.#sink.write(payload.subarray(known), parsed);
    return true;
  }

  /** "Until then a client MUST NOT send what its emulator answers to queries in the replayed bytes." */
  #replay(): void {
    this.#live = false;
    this.#sink.gate(false);
  }

  #begin(from: number, screen: number): void {
    this.#known = true;
    this.#offset = from;
    this.#screenAt = 0;
    this.#screenLeft = screen;
  }
}
