// The emulator's position in the terminal's output. Each byte is passed on once and in order, no matter which
// connection delivered it. This module depends on offsets and the sink, but not on channels.

import type { TerminalOpened, TerminalReseed } from "../wire/methods";
import type { Frame } from "../wire/protocol";
import type { TerminalSink } from "./sink";

export class OutputCursor {
  readonly #sink: TerminalSink;
  #offset = 0;
  /** Number of snapshot bytes that haven't arrived yet; until they have, the emulator shows an incomplete screen. */
  #screenLeft = 0;
  #screenAt = 0;
  #known = false;
  #live = false;
  #answers = false;

  constructor(sink: TerminalSink) {
    this.#sink = sink;
  }

  /** Offset after the last output byte passed on. */
  get offset(): number {
    return this.#offset;
  }

  /** Whether the emulator shows exactly the state at `offset`, so that the output can continue from there. */
  get resumable(): boolean {
    return this.#known && this.#screenLeft === 0;
  }

  /** Makes the next attach start without an offset. */
  reset(): void {
    this.#known = false;
    this.#screenLeft = 0;
    this.#offset = 0;
  }

  /**
   * Returns false if the server resumes at a different offset than this cursor's.
   *
   * `afterOther` is true if the emulator shows an earlier instance of the terminal, whose output is kept in the
   * scrollback.
   */
  opened(opened: TerminalOpened, afterOther = false): boolean {
    const { start_at, from, cols, rows } = opened;
    if (start_at === "snapshot") {
      this.#answers = opened.answers === true;
      this.#snapshot({ ...opened, screen: opened.screen ?? 0 }, afterOther);
      return true;
    }
    if (start_at === "resume" && !(this.resumable && from === this.#offset)) return false;
    this.#replay();
    this.#answers = opened.answers === true;
    if (start_at === "resume") this.#sink.resize(cols, rows);
    else this.#clear(cols, rows, afterOther);
    this.#begin(from, 0);
    return true;
  }

  snapshot(reseed: TerminalReseed): void {
    this.#snapshot(reseed, false);
  }

  resize(cols: number, rows: number): void {
    this.#sink.resize(cols, rows);
  }

  /** Called once the replay has ended. */
  live(): void {
    this.#live = true;
    this.#sink.gate(this.#answers);
  }

  /** Called when the server has chosen this viewer (`mine`) or another one to answer queries. */
  answers(mine: boolean): void {
    this.#answers = mine;
    if (this.#live) this.#sink.gate(mine);
  }

  /** Writes a snapshot frame. Returns false if it doesn't continue the snapshot. */
  screen(frame: Frame, parsed: () => void): boolean {
    const { offset, payload } = frame;
    if (offset !== this.#screenAt || payload.length > this.#screenLeft) return false;
    this.#screenAt += payload.length;
    this.#screenLeft -= payload.length;
    this.#sink.write(payload, parsed);
    return true;
  }

  /**
   * Writes an output frame, skipping bytes that have already been received. Returns false if earlier bytes are missing.
   */
  output(frame: Frame, parsed: () => void): boolean {
    const { offset, payload } = frame;
    if (this.#screenLeft > 0 || offset > this.#offset) return false;
    const known = Math.min(payload.length, this.#offset - offset);
    this.#offset += payload.length - known;
    if (known === payload.length) parsed();
    else this.#sink.write(payload.subarray(known), parsed);
    return true;
  }

  /**
   * Starts a replay. Until it ends, the emulator's replies aren't sent, because the queries in replayed output have
   * already been answered.
   */
  #replay(): void {
    this.#live = false;
    this.#sink.gate(false);
  }

  #snapshot({ from, screen, cols, rows }: TerminalReseed, afterOther: boolean): void {
    this.#replay();
    this.#clear(cols, rows, afterOther);
    this.#begin(from, screen);
  }

  #clear(cols: number, rows: number, keepScrollback: boolean): void {
    if (keepScrollback) this.#sink.startNewScreen(cols, rows);
    else this.#sink.reset(cols, rows);
  }

  #begin(from: number, screen: number): void {
    this.#known = true;
    this.#offset = from;
    this.#screenAt = 0;
    this.#screenLeft = screen;
  }
}
