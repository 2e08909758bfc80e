// Predicts the echo of typed keys at the cursor, as Mosh does. This module depends only on the keys and the cells at
// the cursor.
//
// Only characters and backspaces at the end of a line are predicted, and no prediction is shown until the program has
// echoed a character in the same row. Predictions end when the output differs from them, or when the program has
// received a key but doesn't echo it: a program that stops echoing in the middle of a row is probably asking for a
// password.

/** Maximum number of keys waiting for their echo. */
const MAX_WAITING = 256;
/** How long to wait for the echo of a key that the server has applied, in milliseconds. */
const GIVE_UP = 1_000;
/** The same timeout while predictions are shown. It is shorter, because the typed text may be a password. */
const GIVE_UP_SHOWN = 200;
/** The characters in a cell. */
const NARROW = /^[\x20-\x7e\xa1-\xac\xae-\u02ff]$/;

/** The cell at the cursor. */
export interface CursorRow {
  /** Whether the cursor has left the row it was in at the last call. */
  readonly moved: boolean;
  /** The cells before the cursor in its row, with one character for each. */
  readonly before: string;
  /** Whether the rest of the row is empty and the alternate screen isn't active. */
  readonly atEnd: boolean;
  readonly cols: number;
}

export interface Prediction {
  /** The first column that differs from the printed text. */
  readonly column: number;
  /** The predicted text. */
  readonly text: string;
  /** Number of changed columns; if characters are removed, it's greater than the length of `text`. */
  readonly width: number;
}

/** A row in an emulator. */
export interface Cells {
  getCell(x: number): { getChars(): string } | undefined;
}

/** Returns one character for each of the first `end` cells. Wide and combining characters aren't predicted. */
export function cellsBefore(row: Cells, end: number): string {
  let text = "";
  for (let x = 0; x < end; x++) {
    const chars = row.getCell(x)?.getChars() || " "; // the second cell of a wide character is empty
    text += chars.length === 1 ? chars : "\ufffd";
  }
  return text;
}

interface Waiting {
  /** The line as it will be once this key has been echoed. */
  readonly line: string;
  /** Time when the key was typed, in milliseconds. */
  readonly at: number;
  /** Whether the server has applied the key. */
  readonly applied: () => boolean;
}

export class PredictedLine {
  #waiting: Waiting[] = [];
  /** Time when this page learned that the first key had been applied. */
  #applied: number | undefined;
  /** Column of the first key; undefined if no key has been typed in this row. */
  #start: number | undefined;
  #echoed = "";
  /** Whether any character in this line has been echoed. */
  #echoes = false;
  /** Whether a key with an unknown effect has been typed; reset when the cursor leaves the row. */
  #blocked = false;

  /** Time when the first key that hasn't been echoed was typed; undefined if there is none. */
  get since(): number | undefined {
    return this.#waiting[0]?.at;
  }

  /** `applied` returns whether the server has applied all of `text`. */
  typed(text: string, row: CursorRow, now: number, applied: () => boolean): void {
    if (row.moved) this.#reset();
    for (const key of text) {
      if (this.#blocked || this.#take(key, row, { at: now, applied })) continue;
      this.#blocked = true;
    }
  }

  /**
   * Called when output has been printed. Returns how many milliseconds it took for a key to be echoed; undefined if no
   * key
   * was echoed.
   */
  printed(row: CursorRow, now: number): number | undefined {
    if (row.moved) this.#reset();
    if (this.#start === undefined || !row.atEnd) return undefined;
    const line = row.before.length < this.#start ? undefined : row.before.slice(this.#start);
    if (line === this.#echoed) return undefined;
    const index = this.#waiting.findIndex(waiting => waiting.line === line);
    const found = this.#waiting[index];
    if (!found) {
      this.#end();
      return undefined;
    }
    this.#waiting.splice(0, index + 1);
    this.#applied = undefined;
    this.#echoed = found.line;
    this.#echoes = true;
    return now - found.at;
  }

  /**
   * Ends the predictions in this row if the program has received the first key but doesn't echo it. Must be called
   * often.
   */
  tick(now: number): void {
    if (!this.#waiting[0]?.applied()) return;
    this.#applied ??= now;
    if (now - this.#applied >= (this.#echoes ? GIVE_UP_SHOWN : GIVE_UP)) this.giveUp();
  }

  /** Ends the predictions in this row. */
  giveUp(): void {
    this.#end();
    this.#blocked = true;
  }

  predicted(row: CursorRow): Prediction | undefined {
    const last = this.#waiting.at(-1)?.line;
    const echoed = this.#echoed;
    if (last === undefined || this.#start === undefined || !this.#echoes || !row.atEnd || row.moved)
      return undefined;
    if (last === echoed || row.before.slice(this.#start) !== echoed) return undefined;
    let same = 0;
    while (same < last.length && last[same] === echoed[same]) same++;
    const width = Math.max(last.length, echoed.length) - same;
    return { column: this.#start + same, text: last.slice(same), width };
  }

  /** Returns false for a key whose effect is unknown. */
  #take(key: string, { before, atEnd, cols }: CursorRow, typed: Omit<Waiting, "line">): boolean {
    if (this.#waiting.length >= MAX_WAITING) return false;
    if (this.#start === undefined && !atEnd) return false;
    const start = this.#start ?? before.length;
    const line = this.#waiting.at(-1)?.line ?? this.#echoed;
    const rubout = key === "\x7f" || key === "\b";
    if (rubout ? line === "" : !NARROW.test(key) || start + line.length + 2 >= cols) return false;
    this.#start = start;
    this.#waiting.push({ ...typed, line: rubout ? line.slice(0, -1) : line + key });
    return true;
  }

  #reset(): void {
    this.#end();
    this.#blocked = false;
  }

  #end(): void {
    this.#waiting = [];
    this.#applied = undefined;
    this.#start = undefined;
    this.#echoed = "";
    this.#echoes = false;
  }
}
