// Row properties that the server's emulator stores but xterm.js doesn't.

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

/** The part of a buffer used to find the rows of its screen. */
interface Rows {
  lines: { get(index: number): Line | undefined };
  ybase: number;
  _rows: number;
}

/** Mask for the type of a cell's background colour; the result is 0 if there is no background. */
const COLOURED = 0x3000000;

/** Returns row `y` of the screen; undefined if it's above or below the screen. */
export function rowAt({ lines, ybase, _rows: rows }: Rows, y: number): Line | undefined {
  return y >= 0 && y < rows ? lines.get(ybase + y) : undefined;
}

export function hasText(line: Line): boolean {
  for (let x = 0; x < line.length; x++) if (line.hasContent(x)) return true;
  return false;
}

/** Whether a cell is empty. The second half of a wide character, which has no width, doesn't count as empty. */
export function isEmpty(line: Line, x: number): boolean {
  return !line.hasContent(x) && line.getWidth(x) > 0 && !(line.getBg(x) & COLOURED);
}

/**
 * The rows whose last cell is empty because a wide character didn't fit, so that the cell isn't part of the text.
 * xterm.js doesn't store this.
 */
const spaced = new WeakSet<Line>();

export function isSpaced(line: Line): boolean {
  const last = line.length - 1;
  return spaced.has(line) && !line.hasContent(last) && line.getWidth(last) > 0;
}

/** Records that a wide character didn't fit into a row's last column. */
export const noteSpace = (line: Line): unknown => spaced.add(line);

/**
 * Records which rows, from `first` to the cursor's row, wrap before a wide character. Called after text has been
 * printed in these rows.
 *
 * `noted` is called with each of these rows.
 */
export function noteWraps(
  { lines, ybase, y }: { lines: { get(index: number): Line | undefined }; ybase: number; y: number },
  first: Line | undefined,
  noted?: (line: Line) => void,
): void {
  // `first` may have moved up or been removed.
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
 * Preserves the wrap from the row above into `line`. Unless `attached` is set, `line` was erased and doesn't count as
 * that row's continuation.
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
 * Called when the wide character after `line` has been overwritten, so that the blank at the end of `line` becomes an
 * ordinary one.
 */
export const forgetSpace = (line: Line): boolean => spaced.delete(line);

/** Deletes all records for a row that is getting new text. */
export function forgetNotes(line: Line): void {
  spaced.delete(line);
  detached.delete(line);
}
