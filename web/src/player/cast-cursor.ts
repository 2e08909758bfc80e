// Reads the events in a cast from a given position, one block ahead.

import { type CastEvent, type CastHeader, LineSplitter, parseEvent, parseHeader } from "./cast";
import type { RecordingSource } from "./source";

/** Bytes per read. */
export const BLOCK = 262_144;

export class CastCursor {
  readonly #source: RecordingSource;
  readonly #lines = new LineSplitter();
  #events: CastEvent[] = [];
  #next = 0;
  #offset: number;
  #time: number;
  /** Whether the first line, which is the header, still needs to be skipped. */
  #expectsHeader: boolean;
  /** Set after the first `fill`, if the cursor started at offset 0. */
  header: CastHeader | undefined;

  constructor(source: RecordingSource, offset: number, time: number) {
    this.#source = source;
    this.#offset = offset;
    this.#time = time;
    this.#expectsHeader = offset === 0;
  }

  /** The next event; undefined if `fill` must be called first. */
  get next(): CastEvent | undefined {
    return this.#events[this.#next];
  }

  take(): void {
    this.#next += 1;
  }

  /** Reads until the next event is available. Returns false at the current end of the recording. */
  async fill(): Promise<boolean> {
    while (this.next === undefined) {
      const block = await this.#source.read("cast", this.#offset, BLOCK);
      if (block.length === 0) return false;
      this.#offset += block.length;
      this.#parse(this.#lines.feed(block));
    }
    return true;
  }

  #parse(lines: string[]): void {
    this.#events = [];
    this.#next = 0;
    const first = this.#expectsHeader ? lines.shift() : undefined;
    if (first !== undefined) {
      this.header = parseHeader(first);
      this.#expectsHeader = false;
    }
    for (const line of lines) {
      const event = parseEvent(line, this.#time);
      if (!event) continue;
      this.#time = event.at;
      this.#events.push(event);
    }
  }
}
