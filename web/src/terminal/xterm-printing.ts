// Corrects how xterm.js 6 prints characters, in addition to `xterm-fixes.ts`:
//
//   - a zero-width character joins the cell before the cursor, regardless of the last character printed. If that cell
//     is empty, the character is dropped. A variation selector joins only an emoji;
//   - overwriting half of a wide character leaves a blank with a background, but without a style or link;
//   - the last column isn't part of a link if it stays empty because a wide character didn't fit;
//   - SS2 and SS3 take one character from G2 or G3; LS1R, LS2R and LS3R do not affect 7-bit characters;
//   - REP repeats the last character, even after other sequences;
//   - character sets with 96 characters are not supported.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";
import type { ResizableBuffer } from "./xterm-resize";
import { forgetSpace, type Line, noteWraps, rowAt } from "./xterm-rows";

export interface Attributes {
  fg: number;
  bg: number;
  extended: { urlId: number; underlineStyle: number; clone(): Attributes["extended"] };
  clone(): Attributes;
  updateExtended(): void;
}

export interface PrintingCore {
  buffers: { active: ResizableBuffer };
  coreService: { decPrivateModes: { wraparound: boolean } };
  unicodeService: { wcwidth(code: number): number };
  _charsetService: { glevel: number; setgLevel(level: number): void };
  _inputHandler: {
    _curAttrData: Attributes;
    _eraseAttrData(): Attributes;
    print(data: Uint32Array, start: number, end: number): void;
  };
}

/** The zero-width character with the lowest code point. */
const FIRST_JOINING = 0x300;
const VARIATION_SELECTORS = [0xfe0e, 0xfe0f];
const PICTOGRAPH = /^\p{Extended_Pictographic}/u;
/** The maximum number of repetitions for REP; libghostty has the same limit. */
const REPEATS = 65_535;
/** The final bytes of the sequences that select a character set in xterm.js. */
const CHARSETS = "0AB4C5RQKYE6ZH7=";

/** Installs the corrections. `core` and `parser` must belong to the same terminal. */
export function correctPrinting(parser: Terminal["parser"], core: PrintingCore): Disposable {
  const disposables = new DisposableList();
  const { _inputHandler: handler, _charsetService: sets } = core;
  const { print } = handler;
  let shift: number | undefined;
  let last: number | undefined;
  const printCells = (data: Uint32Array, start: number, end: number) => {
    last = data[end - 1];
    printText(core, end - start, () => print.call(handler, data, start, end));
  };
  handler.print = (data, start, end) => {
    for (let at = start; at < end; ) {
      if (joins(core, data[at] as number)) {
        join(core, data[at++] as number);
        print.call(handler, data, at, at); // prints nothing, but marks the row for redrawing
      } else if (shift !== undefined) {
        const { glevel } = sets;
        sets.setgLevel(shift);
        shift = undefined;
        printCells(data, at, ++at);
        sets.setgLevel(glevel);
      } else {
        const from = at++;
        while (at < end && !joins(core, data[at] as number)) at++;
        printCells(data, from, at);
      }
    }
  };
  disposables.defer(() => {
    handler.print = print;
  });
  const esc = (final: string, handle: () => boolean, intermediates?: string) =>
    disposables.add(parser.registerEscHandler(intermediates ? { intermediates, final } : { final }, handle));
  const singleShift = (level: number) => () => {
    shift = level;
    return true;
  };
  esc("N", singleShift(2));
  esc("O", singleShift(3));
  for (const final of "~}|") esc(final, () => true);
  for (const kind of "-./") for (const final of CHARSETS) esc(final, () => true, kind);
  esc("c", () => {
    last = undefined;
    return false;
  });
  disposables.add(
    parser.registerCsiHandler({ final: "b" }, ([count]) => {
      if (last !== undefined) {
        const repeated = Math.min(Number(count) || 1, REPEATS);
        handler.print(new Uint32Array(repeated).fill(last), 0, repeated);
      }
      return true;
    }),
  );
  return disposables;
}

/** Calls `run`, which prints `count` characters, and corrects the cells around them. */
function printText(
  { buffers: { active }, _inputHandler: handler }: PrintingCore,
  count: number,
  run: () => void,
): void {
  const [line, above] = [rowAt(active, active.y), rowAt(active, active.y - 1)];
  const over = active.x <= 1 && line?.getWidth(0) === 2 ? active.x : -1;
  if (line && active.x > 0 && line.getWidth(active.x - 1) === 2) {
    line.setCellFromCodepoint(active.x - 1, 0, 1, handler._eraseAttrData());
  }
  run();
  if (above && (over === 1 || (over === 0 && line?.getWidth(0) !== 2))) forgetSpace(above);
  const now = rowAt(active, active.y);
  const { _curAttrData: pen } = handler;
  // If more text was printed than the buffer holds, this row object may have been reused.
  const first = line && count < (line.length >> 1) * (active.lines.length - 1) ? line : undefined;
  if (now !== first) {
    noteWraps(active, first, spaced => {
      if (pen.extended.urlId) restyle(spaced, spaced.length - 1, pen, withoutLink(pen));
    });
  }
  const { x } = active;
  if (now && x < now.length && !now.hasContent(x) && now.getWidth(x) === 1) {
    restyle(now, x, pen, handler._eraseAttrData());
  }
}

/** Corrects the attributes of a blank cell that xterm.js has just printed with the pen's attributes. */
function restyle(row: Line, x: number, pen: Attributes, attributes: Attributes): void {
  if (row.getFg(x) === pen.fg && row.getBg(x) === pen.bg) row.setCellFromCodepoint(x, 0, 1, attributes);
}

function withoutLink(pen: Attributes): Attributes {
  const plain = pen.clone();
  plain.extended = plain.extended.clone();
  plain.extended.urlId = 0;
  plain.updateExtended();
  return plain;
}

function joins({ unicodeService }: PrintingCore, code: number): boolean {
  return code >= FIRST_JOINING && unicodeService.wcwidth(code) === 0;
}

/** Adds a zero-width character to the cell before the cursor. */
function join({ buffers: { active }, coreService }: PrintingCore, code: number): void {
  const line = rowAt(active, active.y);
  if (!line) return;
  const pending = active.x >= line.length;
  let x = pending && !coreService.decPrivateModes.wraparound ? line.length - 2 : active.x - 1;
  if (x > 0 && line.getWidth(x) === 0) x--;
  if (x < 0 || !line.hasContent(x)) return;
  if (VARIATION_SELECTORS.includes(code) && !PICTOGRAPH.test(line.getString(x))) return;
  line.addCodepointToCell(x, code, line.getWidth(x));
}
