// What the user has typed, by absolute offset: kept until the server says that it is applied, so that after a broken
// line exactly the rest can be sent again (docs/wire.md section 5).

import { randomId } from "../base/random-id";
import { MisuseError } from "../wire/errors";

/** Bytes that may wait here: far above any sane paste, far below what would hurt the page. */
export const MAX_WAITING = 64 * 1024 * 1024;

export class InputStream {
  /** The `input` id: the server counts applied bytes for each. */
  readonly id: string;
  /** Never empty; the first byte of the first chunk is at `#applied`. */
  readonly #chunks: Uint8Array[] = [];
  #applied = 0;
  #sent = 0;
  #end = 0;

  constructor(id: string = randomId()) {
    this.id = id;
  }

  /** Offset below which the server has everything. */
  get applied(): number {
    return this.#applied;
  }

  /** Offset behind the last byte that went out on the current channel. */
  get sent(): number {
    return this.#sent;
  }

  /** Offset behind the last byte typed. */
  get end(): number {
    return this.#end;
  }

  /** False if there is no room: nothing is taken then, for half a paste would be worse than none. */
  append(bytes: Uint8Array): boolean {
    if (this.#end - this.#applied + bytes.length > MAX_WAITING) return false;
    if (bytes.length > 0) this.#chunks.push(bytes);
    this.#end += bytes.length;
    return true;
  }

  /** Up to `limit` bytes that have not gone out yet; they count as sent from now on. */
  take(limit: number): { offset: number; bytes: Uint8Array } | undefined {
    const offset = this.#sent;
    const length = Math.min(limit, this.#end - offset);
    if (length <= 0) return undefined;
    this.#sent += length;
    return { offset, bytes: this.#slice(offset, length) };
  }

  /** The server has applied `bytes` more. */
  credit(bytes: number): void {
    this.#drop(Math.min(this.#applied + bytes, this.#sent));
  }

  /**
   * A new channel begins where the server is. False if the server's offset is not one that this stream can go on from
   * (it has forgotten the id): the bytes then cannot be placed, and the stream is of no further use.
   */
  resume(serverApplied: number): boolean {
    if (serverApplied < this.#applied || serverApplied > this.#end) return false;
    this.#drop(serverApplied);
    this.#sent = serverApplied;
    return true;
  }

  #drop(to: number): void {
    while (this.#applied < to) {
      const first = this.#chunks[0];
      if (!first) throw new MisuseError("an offset beyond the end of the input");
      const step = Math.min(first.length, to - this.#applied);
      this.#applied += step;
      if (step === first.length) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(step);
    }
  }

  #slice(offset: number, length: number): Uint8Array {
    const out = new Uint8Array(length);
    let at = this.#applied;
    for (const chunk of this.#chunks) {
      const from = Math.max(offset, at);
      const to = Math.min(offset + length, at + chunk.length);
      if (to > from) out.set(chunk.subarray(from - at, to - at), from - offset);
      at += chunk.length;
      if (at >= offset + length) break;
    }
    return out;
  }
}
