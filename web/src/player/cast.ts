// Parses asciicast v3 and its index from blocks of bytes (docs/wire.md, Recordings).

export interface CastHeader {
  cols: number;
  rows: number;
  title: string | undefined;
}

/** `at` is in seconds since the start of the recording. */
export interface CastEvent {
  at: number;
  code: string;
  data: string;
}

/**
 * A position where playback can start: `size` bytes from the screens file, starting at offset `screen`, and then the
 * cast, starting at byte `at`.
 */
export interface Keyframe {
  t: number;
  at: number;
  screen: number;
  size: number;
  cols: number;
  rows: number;
}

export interface Marker {
  t: number;
  label: string;
}

const NEW_LINE = 10;

/** Splits blocks of bytes into whole lines. */
export class LineSplitter {
  #rest = new Uint8Array(0);
  readonly #decoder = new TextDecoder();

  feed(block: Uint8Array): string[] {
    const end = block.lastIndexOf(NEW_LINE) + 1;
    if (end === 0) {
      this.#rest = joined(this.#rest, block);
      return [];
    }
    const text = this.#decoder.decode(joined(this.#rest, block.subarray(0, end)));
    this.#rest = block.slice(end);
    return text.split("\n").slice(0, -1);
  }
}

/** Parses an event. `before` is the time of the previous event, in seconds. Returns undefined for a comment. */
export function parseEvent(line: string, before: number): CastEvent | undefined {
  if (!line.startsWith("[")) return undefined;
  const [interval, code, data] = JSON.parse(line) as [number, string, string];
  // Times are in whole milliseconds, because a sum of fractions would drift from the times in the recorder and the
  // index.
  return { at: Math.round((before + interval) * 1000) / 1000, code, data };
}

export function parseHeader(line: string): CastHeader {
  const header = JSON.parse(line) as {
    version: number;
    term: { cols: number; rows: number };
    title?: string;
  };
  if (header.version !== 3) throw new Error(`asciicast version ${header.version} is not supported, only 3`);
  return { cols: header.term.cols, rows: header.term.rows, title: header.title };
}

export function parseSize(data: string): { cols: number; rows: number } {
  const [cols = 80, rows = 24] = data.split("x").map(Number);
  return { cols, rows };
}

export function parseIndex(bytes: Uint8Array): { keyframes: Keyframe[]; markers: Marker[] } {
  const keyframes: Keyframe[] = [];
  const markers: Marker[] = [];
  for (const line of new LineSplitter().feed(bytes)) {
    const entry = JSON.parse(line) as Keyframe | Marker;
    if ("at" in entry) keyframes.push(entry);
    else markers.push(entry);
  }
  return { keyframes, markers };
}

/** Returns the last keyframe at or before `time` (in seconds); undefined means the start of the recording. */
export function keyframeBefore(keyframes: readonly Keyframe[], time: number): Keyframe | undefined {
  let low = 0;
  let high = keyframes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keyframes[middle] as Keyframe).t <= time) low = middle + 1;
    else high = middle;
  }
  return keyframes[low - 1];
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
