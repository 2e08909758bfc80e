// The events of a cast from some place on, read a block ahead and never more.

import { type CastEvent, type CastHeader, Lines, parseEvent, parseHeader } from "./cast";
import type { RecordingSource } from "./source";

/** Bytes read at a time. */
export const BLOCK = 262_144;

export class CastCursor {
  readonly #source: RecordingSource;
  readonly #lines = new Lines();
  #events: CastEvent[] = [];
  #next = 0;
  #offset: number;
  #time: number;
  /** Known after the first `fill` of a cursor that began at 0. */
  header: CastHeader | undefined;

  constructor(source: RecordingSource, offset: number, time: number) {
    this.#source = source;
    this.#offset = offset;
    this.#time = time;
  }

  /** The next event; undefined says that `fill` has to be asked. */
  get next(): CastEvent | undefined {
    return this.#events[this.#next];
  }

  take(): void {
    this.#next += 1;
  }

  /** Reads on; false if there is nothing more by now. */
  async fill(): Promise<boolean> {
    while (this.next === undefined) {
      const block = await this.#source.read("cast", this.#offset, BLOCK);
      if (block.length === 0) return false;
      const first = this.#offset === 0;
      this.#offset += block.length;
      this.#parse(this.#lines.feed(block), first);
    }
    return true;
  }

  #parse(lines: string[], withHeader: boolean): void {
    this.#events = [];
    this.#next = 0;
    if (withHeader) this.header = parseHeader(lines.shift() ?? "");
    for (const line of lines) {
      const event = parseEvent(line, this.#time);
      if (!event) continue;
      this.#time = event.at;
      this.#events.push(event);
    }
  }
}
