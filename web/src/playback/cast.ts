// asciicast v3 and the index beside it, from bytes that come in blocks (docs/wire.md, Recordings).

export interface CastHeader {
  cols: number;
  rows: number;
  title: string | undefined;
}

/** `at`: seconds since the recording began. */
export interface CastEvent {
  at: number;
  code: string;
  data: string;
}

/** Where one can begin: `size` bytes of the screens from `screen` on, then the cast from its byte `at`. */
export interface Place {
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

/** Whole lines out of blocks of bytes. */
export class Lines {
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

/** Undefined for a line that is no event: a comment. */
export function parseEvent(line: string, before: number): CastEvent | undefined {
  if (!line.startsWith("[")) return undefined;
  const [interval, code, data] = JSON.parse(line) as [number, string, string];
  // Whole milliseconds: a sum of fractions would drift from what the recorder and the index say.
  return { at: Math.round((before + interval) * 1000) / 1000, code, data };
}

export function parseHeader(line: string): CastHeader {
  const header = JSON.parse(line) as {
    version: number;
    term: { cols: number; rows: number };
    title?: string;
  };
  if (header.version !== 3) throw new Error(`asciicast ${header.version} is not known here`);
  return { cols: header.term.cols, rows: header.term.rows, title: header.title };
}

export function parseSize(data: string): { cols: number; rows: number } {
  const [cols = 80, rows = 24] = data.split("x").map(Number);
  return { cols, rows };
}

export function parseIndex(bytes: Uint8Array): { places: Place[]; markers: Marker[] } {
  const places: Place[] = [];
  const markers: Marker[] = [];
  for (const line of new Lines().feed(bytes)) {
    const entry = JSON.parse(line) as Place | Marker;
    if ("at" in entry) places.push(entry);
    else markers.push(entry);
  }
  return { places, markers };
}

/** The last place to begin at for that time; undefined is the beginning. */
export function placeBefore(places: readonly Place[], time: number): Place | undefined {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] as Place).t <= time) low = middle + 1;
    else high = middle;
  }
  return places[low - 1];
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
