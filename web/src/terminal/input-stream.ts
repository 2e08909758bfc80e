// The user's input, addressed by absolute offset. Bytes are kept until the server has applied them, so if the
// connection is lost, exactly the missing bytes are resent (docs/wire.md section 5).

import { randomId } from "../base/random-id";
import { MisuseError } from "../wire/errors";

/**
 * Maximum number of bytes not yet applied. It is larger than any reasonable paste, but too small to slow down the page.
 */
export const MAX_WAITING = 64 * 1024 * 1024;

export class InputStream {
  /** The `input` id of this stream. The server counts the bytes applied for each id. */
  readonly id: string;
  /** Chunks are never empty; the first byte of the first chunk has offset `#applied`. */
  readonly #chunks: Uint8Array[] = [];
  #applied = 0;
  #sent = 0;
  #end = 0;

  constructor(id: string = randomId()) {
    this.id = id;
  }

  /** The server has applied all bytes before this offset. */
  get applied(): number {
    return this.#applied;
  }

  /** Offset after the last byte sent on the current channel. */
  get sent(): number {
    return this.#sent;
  }

  /** Offset after the last byte typed. */
  get end(): number {
    return this.#end;
  }

  /**
   * Appends `bytes`. If they don't fit, appends nothing and returns false, because half a paste would be worse than
   * none.
   */
  append(bytes: Uint8Array): boolean {
    if (this.#end - this.#applied + bytes.length > MAX_WAITING) return false;
    if (bytes.length > 0) this.#chunks.push(bytes);
    this.#end += bytes.length;
    return true;
  }

  /** Returns up to `limit` unsent bytes and marks them as sent; undefined if there are none. */
  take(limit: number): { offset: number; bytes: Uint8Array } | undefined {
    const offset = this.#sent;
    const length = Math.min(limit, this.#end - offset);
    if (length <= 0) return undefined;
    this.#sent += length;
    return { offset, bytes: this.#slice(offset, length) };
  }

  /** Called when the server has applied another `bytes` bytes. */
  credit(bytes: number): void {
    this.#drop(Math.min(this.#applied + bytes, this.#sent));
  }

  /**
   * Continues on a new channel from the server's offset. Returns false if the stream doesn't contain that offset,
   * because the server no longer knows the id. The stream is unusable after that.
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
      if (!first) throw new MisuseError("the offset is beyond the end of the input");
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
