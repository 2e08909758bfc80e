// Resizes an xterm.js buffer in the same way as the server's emulator. This module is a port of libghostty's
// PageList.zig:
//
//   - all soft-wrapped lines are reflowed for the new width, including the line with the cursor;
//   - fewer rows: blank rows below the cursor are removed first, then rows move into the scrollback. None are lost;
//   - more rows: rows come back from the scrollback only if the cursor was in the last row;
//   - more columns: the number of rows below the cursor stays the same.
//
// xterm.js itself doesn't reflow the line with the cursor, and drops rows below the cursor. After a resize, a viewer
// would have lost text and would show a different screen than a viewer that attaches later.

import { continues, forgetNotes, hasText, isEmpty, isSpaced, type Line, noteSpace } from "./xterm-rows";

export interface ResizableBuffer {
  x: number;
  y: number;
  /** The index of the screen's first row. */
  ybase: number;
  /** The index of the first visible row. */
  ydisp: number;
  savedX: number;
  savedY: number;
  scrollTop: number;
  scrollBottom: number;
  markers: { line: number; dispose(): void }[];
  lines: {
    length: number;
    maxLength: number;
    get(index: number): Line | undefined;
    push(line: Line): void;
  };
  _cols: number;
  _rows: number;
  _hasScrollback: boolean;
  _getCorrectBufferLength(rows: number): number;
  getBlankLine(attributes?: undefined): Line;
  getNullCell(): unknown;
  setupTabStops(): void;
}

/** The position of a cursor, which moves along with the text at this position. */
interface Place {
  /** The index of its row in the whole buffer. */
  row: number;
  x: number;
  /** Whether a character was printed in the last column, so that the next one will wrap. */
  pending: boolean;
}

/** A buffer's rows during a resize. */
interface Text {
  lines: Line[];
  /** The number of lines at the end that make up the screen. */
  rows: number;
  readonly cursor: Place;
  /** The cursor's row on the screen before the resize. */
  readonly cursorY: number;
  /** The cursor and the saved cursor. */
  readonly places: Place[];
  readonly markers: { line: number }[];
  readonly blank: () => Line;
  readonly nothing: unknown;
}

export interface ResizeOptions {
  /** Whether lines are reflowed; otherwise, columns are cut off or added. */
  reflow: boolean;
  /** Whether a program has saved the cursor (DECSC). */
  saved: boolean;
  /** Whether a row that becomes longer still wraps into the next one. */
  keepWraps?: boolean;
}

/** Replaces a buffer's `resize` method. */
export function resizeBuffer(
  buffer: ResizableBuffer,
  cols: number,
  rows: number,
  { reflow, saved, keepWraps = false }: ResizeOptions,
): void {
  const { _cols: oldCols, _rows: oldRows } = buffer;
  buffer._cols = cols;
  buffer._rows = rows;
  buffer.scrollTop = 0;
  buffer.scrollBottom = rows - 1;
  if (cols !== oldCols) buffer.setupTabStops();
  if (buffer.lines.length === 0) {
    // This is the alternate screen, which has no lines while it is hidden.
    buffer.lines.maxLength = buffer._getCorrectBufferLength(rows);
    return;
  }
  const place = (x: number, y: number): Place => ({
    row: buffer.ybase + y,
    x: Math.min(x, oldCols - 1),
    pending: x >= oldCols,
  });
  const cursor = place(buffer.x, buffer.y);
  const savedCursor = saved ? place(buffer.savedX, buffer.savedY - buffer.ybase) : undefined;
  const top = { line: buffer.ydisp };
  const text: Text = {
    lines: Array.from({ length: buffer.lines.length }, (_, y) => buffer.lines.get(y) as Line),
    rows: oldRows,
    cursor,
    cursorY: buffer.y,
    // The order matters, because each cursor in turn can make its row longer.
    places: savedCursor ? [savedCursor, cursor] : [cursor],
    markers: [...buffer.markers, top],
    blank: () => buffer.getBlankLine(),
    nothing: buffer.getNullCell(),
  };
  if (!reflow) setCols(text, oldCols, cols, keepWraps);
  else if (cols > oldCols) reflowTo(text, cols);
  setRows(text, rows);
  if (reflow && cols < oldCols) reflowTo(text, cols);
  if (!buffer._hasScrollback) dropScrollback(text);

  const base = text.lines.length - rows;
  const dropped = store(buffer, text, rows);
  const scrolled = buffer.ydisp < buffer.ybase;
  buffer.ybase = base - dropped;
  buffer.ydisp = scrolled ? Math.min(Math.max(top.line, 0), buffer.ybase) : buffer.ybase;
  ({ x: buffer.x, y: buffer.y } = onScreen(cursor, base, cols));
  if (savedCursor) {
    if (savedCursor.row < base) savedCursor.pending = false;
    const { x, y } = onScreen(savedCursor, base, cols);
    buffer.savedX = x;
    buffer.savedY = y + buffer.ybase;
  }
}

/**
 * Converts a cursor's position in the buffer to a position on the screen, whose first row is `base`. A cursor above the
 * screen is moved to the screen's first cell.
 */
function onScreen({ row, x, pending }: Place, base: number, cols: number): { x: number; y: number } {
  const [left, y] = row < base ? [0, 0] : [Math.min(x, cols - 1), row - base];
  // xterm.js stores a pending wrap as column `cols`. If the row is no longer full, this becomes the next column.
  return { x: pending ? left + 1 : left, y };
}

/** Stores the lines in the buffer. Returns how many of the oldest lines didn't fit. */
function store(buffer: ResizableBuffer, { lines, markers }: Text, rows: number): number {
  const limit = buffer._getCorrectBufferLength(rows);
  const dropped = Math.max(0, lines.length - limit);
  buffer.lines.maxLength = limit;
  buffer.lines.length = 0;
  for (let y = dropped; y < lines.length; y++) buffer.lines.push(lines[y] as Line);
  for (const marker of markers) marker.line = Math.min(marker.line, lines.length - 1) - dropped;
  for (const marker of [...buffer.markers]) if (marker.line < 0) marker.dispose();
  return dropped;
}

/** Cuts off columns or adds blank ones. */
function setCols(text: Text, oldCols: number, cols: number, keepWraps: boolean): void {
  if (cols === oldCols) return;
  for (const line of text.lines) {
    line.resize(cols, text.nothing);
    if (cols > oldCols && !keepWraps) line.isWrapped = false;
  }
  for (const [y, line] of text.lines.entries()) {
    if (line.getWidth(cols - 1) !== 2) continue;
    line.replaceCells(cols - 1, cols, text.nothing); // erases the first half of a wide character
    const next = text.lines[y + 1];
    if (next) next.isWrapped = false;
  }
  for (const place of text.places) place.x = Math.min(place.x, cols - 1);
}

function setRows(text: Text, rows: number): void {
  const { lines, places, cursorY } = text;
  for (let left = text.rows - rows; left > 0; left--) {
    const last = lines.length - 1;
    if (hasText(lines[last] as Line) || places.some(({ row }) => row === last)) break;
    lines.pop();
  }
  if (rows > text.rows && cursorY < text.rows - 1) addRows(text, rows - text.rows);
  addRows(text, rows - lines.length);
  text.rows = rows;
}

function dropScrollback(text: Text): void {
  const above = text.lines.length - text.rows;
  text.lines.splice(0, above);
  for (const place of text.places) {
    if (place.row < above) place.x = 0;
    place.row = Math.max(0, place.row - above);
  }
  for (const marker of text.markers) marker.line -= above;
}

function addRows({ lines, blank }: Text, count: number): void {
  for (let left = count; left > 0; left--) lines.push(blank());
}

/**
 * Reflows the lines. The number of rows below the cursor stays the same, except for rows needed by the cursor's line.
 */
function reflowTo(text: Text, cols: number): void {
  const { cursor, rows } = text;
  const below = Math.max(0, rows - (text.cursorY + 1));
  const wrapsBefore = wrapsAbove(text);
  const { lines, newRows } = new Reflow(text, cols).run();
  for (const marker of text.markers) marker.line = newRows[marker.line] ?? lines.length - 1;
  text.lines = lines;
  addRows(text, rows - lines.length);
  const y = cursor.row - (lines.length - rows);
  if (y < 0) return;
  const more = Math.max(0, wrapsAbove(text) - wrapsBefore);
  addRows(text, Math.max(0, below - more) - Math.max(0, rows - (y + 1)));
}

/** Counts the screen rows, down to the cursor's row, that continue the row above. */
function wrapsAbove({ lines, rows, cursor }: Text): number {
  let count = 0;
  for (let y = lines.length - rows; y <= cursor.row; y++) count += Number(continues(lines[y] as Line));
  return count;
}

class Reflow {
  readonly lines: Line[] = [];
  /** The new index of each row; undefined for blank rows at the end. */
  readonly newRows: (number | undefined)[] = [];
  readonly #text: Text;
  readonly #cols: number;
  readonly #places: { place: Place; row: number; x: number }[];
  /** The column of the next cell in the last element of `lines`. */
  #x = 0;
  /** Whether the next cell needs a new row that continues the last one. */
  #full = false;
  /** Number of line breaks before the next text. Line breaks after the last text are dropped. */
  #breaks = 0;
  #blank: number[] = [];

  constructor(text: Text, cols: number) {
    this.#text = text;
    this.#cols = cols;
    this.#places = text.places.map(place => ({ place, row: place.row, x: place.x }));
  }

  run(): this {
    this.#start(false);
    const { lines } = this.#text;
    for (const [row, line] of lines.entries()) {
      const wraps = lines[row + 1]?.isWrapped ?? false;
      const length = this.#lengthOf(row, line, wraps);
      if (length > 0) {
        this.#breakLines();
        if (!wraps && this.#x === 0 && !this.#full && length <= this.#cols) this.#take(row, length);
        else this.#copy(row, line, length, wraps);
        if (!wraps) this.#breaks++;
      } else if (continues(line)) {
        this.newRows[row] = this.lines.length - 1;
      } else {
        this.#breaks++;
        this.#blank.push(row);
      }
    }
    return this;
  }

  /** Returns the number of cells in a row up to the end of its text, or up to a cursor beyond it. */
  #lengthOf(row: number, line: Line, wraps: boolean): number {
    let length = line.length;
    if (!wraps) while (length > 0 && isEmpty(line, length - 1)) length--;
    for (const at of this.#places) {
      if (at.row !== row) continue;
      if (at.place !== this.#text.cursor && at.x >= length) at.x = Math.min(at.x, this.#cols - 1 - this.#x);
      length = Math.max(length, at.x + 1);
    }
    return length;
  }

  /** Adds a row for each line break before the next text, reusing the blank rows from before the resize. */
  #breakLines(): void {
    const written = this.lines.length;
    for (; this.#breaks > 0; this.#breaks--) this.#start(false);
    let to = this.lines.length - 1;
    // The first of these rows can be an erased row that the row above wraps into. Such a row has no line break, so it
    // doesn't get a line.
    for (const row of this.#blank.reverse()) if (--to >= written) this.#use(row, to);
    this.#blank = [];
  }

  #start(wrapped: boolean): void {
    const line = this.#text.blank();
    line.isWrapped = wrapped;
    this.lines.push(line);
    this.#x = 0;
    this.#full = false;
  }

  /** Reuses an old row unchanged, including its images, which are stored in cells without text. */
  #use(row: number, to: number): void {
    const line = this.#text.lines[row] as Line;
    forgetNotes(line);
    line.resize(this.#cols, this.#text.nothing);
    line.isWrapped = this.lines[to]?.isWrapped ?? false;
    this.lines[to] = line;
    this.newRows[row] = to;
  }

  #take(row: number, length: number): void {
    this.#use(row, this.lines.length - 1);
    this.#move(row, 0, length);
    this.#forward(length);
  }

  #copy(row: number, line: Line, length: number, wraps: boolean): void {
    const cols = this.#cols;
    const spacer = wraps && isSpaced(line) ? line.length - 1 : undefined;
    let x = 0;
    while (x < length) {
      if (this.#full) this.#start(true);
      this.newRows[row] ??= this.lines.length - 1;
      if (x === spacer) {
        this.#move(row, x, 1);
        break;
      }
      const fits = cols - this.#x;
      let count = Math.min((spacer ?? length) - x, fits);
      // Whether the last character is wide and only its first half fits.
      const cut = count === fits && line.getWidth(x + count - 1) === 2;
      if (cut) count--;
      if (count > 0) {
        (this.lines.at(-1) as Line).copyCellsFrom(line, x, this.#x, count, false);
        this.#move(row, x, count);
      }
      x += count;
      this.#forward(count);
      if (cut) {
        noteSpace(this.lines.at(-1) as Line);
        // A cursor on this character moves to the empty column rather than to the next row.
        this.#move(row, x, 1);
        this.#forward(1);
      }
    }
  }

  /** Moves any cursor in the `count` cells of `row` that start at `x` to the new position of its cell. */
  #move(row: number, x: number, count: number): void {
    for (const at of this.#places) {
      if (at.row !== row || at.x < x || at.x >= x + count) continue;
      at.place.row = this.lines.length - 1;
      at.place.x = this.#x + at.x - x;
      at.row = -1;
    }
  }

  #forward(count: number): void {
    this.#full = this.#x + count === this.#cols;
    this.#x = Math.min(this.#x + count, this.#cols - 1);
  }
}
