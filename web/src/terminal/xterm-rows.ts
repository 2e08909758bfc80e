// Properties of rows that the server's emulator stores, but xterm.js does not.

export interface Line {
  length: number;
  isWrapped: boolean;
  hasContent(x: number): number;
  getWidth(x: number): number;
  getFg(x: number): number;
  getBg(x: number): number;
  getString(x: number): string;
  setCellFromCodepoint(x: number, code: number, width: number, attributes: unknown): void;
  addCodepointToCell(x: number, code: number, width: number): void;
  copyCellsFrom(from: Line, fromX: number, toX: number, count: number, reverse: boolean): void;
  replaceCells(start: number, end: number, blank: unknown): void;
  resize(cols: number, blank: unknown): boolean;
}

/** The part of a buffer that finds the rows of its screen. */
interface Rows {
  lines: { get(index: number): Line | undefined };
  ybase: number;
  _rows: number;
}

/** Mask of the type of a cell's background colour; the result is 0 if there is no background. */
const COLOURED = 0x3000000;

/** Returns row `y` of the screen; undefined if it is above or below the screen. */
export function rowAt({ lines, ybase, _rows: rows }: Rows, y: number): Line | undefined {
  return y >= 0 && y < rows ? lines.get(ybase + y) : undefined;
}

export function hasText(line: Line): boolean {
  for (let x = 0; x < line.length; x++) if (line.hasContent(x)) return true;
  return false;
}

/** Whether a cell is empty. The second half of a wide character, which has no width, is not empty. */
export function isEmpty(line: Line, x: number): boolean {
  return !line.hasContent(x) && line.getWidth(x) > 0 && !(line.getBg(x) & COLOURED);
}

/**
 * The rows whose last cell is empty because a wide character did not fit, so that the cell is not part of the text.
 * xterm.js does not store this.
 */
const spaced = new WeakSet<Line>();

export function isSpaced(line: Line): boolean {
  const last = line.length - 1;
  return spaced.has(line) && !line.hasContent(last) && line.getWidth(last) > 0;
}

/** Records that a wide character did not fit into the last column of a row. */
export const noteSpace = (line: Line): unknown => spaced.add(line);

/**
 * Records which rows, from `first` to the cursor's row, wrap before a wide character. Called after text was printed in
 * these rows.
 *
 * `noted` is called with each of these rows.
 */
export function noteWraps(
  { lines, ybase, y }: { lines: { get(index: number): Line | undefined }; ybase: number; y: number },
  first: Line | undefined,
  noted?: (line: Line) => void,
): void {
  // `first` can have moved up or been removed.
  for (let row = ybase + y; row > 0 && lines.get(row) !== first; row--) {
    const [line, next] = [lines.get(row - 1), lines.get(row)];
    if (!line || !next?.isWrapped) break;
    detached.delete(next);
    const last = line.length - 1;
    if (next.getWidth(0) !== 2 || line.hasContent(last) || line.getWidth(last) === 0) continue;
    spaced.add(line);
    noted?.(line);
  }
}

/** Erased rows that the row above still wraps into. */
const detached = new WeakSet<Line>();

/**
 * Keeps the wrap from the row above into `line`. Unless `attached`, `line` was erased and does not count as its
 * continuation.
 */
export function keepWrap(line: Line, attached = false): void {
  line.isWrapped = true;
  if (!attached) detached.add(line);
}

/** Whether a row continues the row above, which wraps into it. */
export function continues(line: Line): boolean {
  return line.isWrapped && !detached.has(line);
}

/**
 * Called when the wide character after `line` was overwritten, so that the blank at the end of `line` becomes an
 * ordinary one.
 */
export const forgetSpace = (line: Line): boolean => spaced.delete(line);

/** Deletes all records of a row that gets new text. */
export function forgetNotes(line: Line): void {
  spaced.delete(line);
  detached.delete(line);
}
