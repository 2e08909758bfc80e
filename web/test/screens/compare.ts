// Lists the differences between two terminals: every cell of both buffers, the cursor, the modes, and all state
// that affects how the next byte is processed.

import type { Terminal } from "@xterm/headless";
import { type Buffer, type Cell, type Core, type EventState, internalsOf, type Line } from "./internals";

/** Kind of difference → an example, as "where: actual, expected". */
export type Differences = Map<string, { count: number; example: string }>;

const FG_FLAGS = 0xfc000000;
const BG_FLAGS = 0x6c000000; // all but HAS_EXTENDED
const HAS_EXTENDED = 0x10000000;
const COLOUR = 0x03ffffff;
const MODE = 0x03000000;
const P16 = 0x01000000;
const P256 = 0x02000000;
/** Inverse, underline, strikethrough; overline is among the flags of the background. */
const SEEN_ON_BLANKS = 0x04000000 | 0x10000000 | 0x80000000;
const OVERLINE = 0x40000000;

export function compare(
  actual: Terminal,
  expected: Terminal,
  actualState: EventState,
  expectedState: EventState,
): Differences {
  const found: Differences = new Map();
  const note = (kind: string, where: string, left: unknown, right: unknown) => {
    const known = found.get(kind);
    if (known) known.count++;
    else
      found.set(kind, {
        count: 1,
        example: `${where}: ${JSON.stringify(left)}, not ${JSON.stringify(right)}`,
      });
  };
  const same = (kind: string, left: unknown, right: unknown, where = "") => {
    if (JSON.stringify(left) !== JSON.stringify(right)) note(kind, where, left, right);
  };
  const [a, b] = [internalsOf(actual), internalsOf(expected)];
  same("buffer", a.buffers.active === a.buffers.alt, b.buffers.active === b.buffers.alt);
  compareBuffers("normal", a, b, a.buffers.normal, b.buffers.normal);
  if (b.buffers.active === b.buffers.alt) compareBuffers("alternate", a, b, a.buffers.alt, b.buffers.alt);
  same("modes", modes(a), modes(b));
  same("pen", pen(a, a._inputHandler._curAttrData), pen(b, b._inputHandler._curAttrData));
  same("charset", charsets(a, b), charsets(b, b));
  same("parser", a._inputHandler._parser.currentState, b._inputHandler._parser.currentState);
  same("title", actualState.title, expectedState.title);
  same("cwd", actualState.cwd, expectedState.cwd);
  same("palette", sorted(actualState.colours), sorted(expectedState.colours));
  return found;

  function compareBuffers(name: string, a: Core, b: Core, left: Buffer, right: Buffer) {
    same("scrollback", left.ybase, right.ybase, name);
    const active = right === b.buffers.active;
    // Under the alternate screen, the cursor position is stored by DECSC only.
    if (active) same("cursor", [left.x, left.y], [right.x, right.y], name);
    same("region", [left.scrollTop, left.scrollBottom], [right.scrollTop, right.scrollBottom], name);
    same("tabs", tabs(left), tabs(right), name);
    same("saved cursor", saved(a, left), saved(b, right), name);
    same("saved charset", charsetName(left.savedCharset, b), charsetName(right.savedCharset, b), name);
    const cells: [Cell, Cell] = [left.getNullCell(), left.getNullCell()].map(cell => clone(cell)) as [
      Cell,
      Cell,
    ];
    for (let y = 0; y < right.lines.length; y++) {
      // From the bottom: a missing line of the scrollback does not shift all the others.
      const [p, q] = [left.lines.get(left.lines.length - 1 - y), right.lines.get(right.lines.length - 1 - y)];
      if (!p || !q) return;
      compareLines(
        `${name} ${right.lines.length - 1 - y - right.ybase}`,
        p,
        q,
        cells,
        y >= right.lines.length - right.ybase,
        y === right.lines.length - 1, // may continue a row that has left the scrollback
      );
    }
  }

  function compareLines(
    where: string,
    p: Line,
    q: Line,
    [left, right]: [Cell, Cell],
    past: boolean,
    oldest: boolean,
  ) {
    const of = past ? "scrollback " : "";
    if (p.isWrapped !== q.isWrapped && !oldest) note(`${of}wrap`, where, p.isWrapped, q.isWrapped);
    for (let x = 0; x < q.length; x++) {
      p.loadCell(x, left);
      q.loadCell(x, right);
      compareCells(of, `${where},${x}`, left, right);
    }
  }

  function compareCells(of: string, where: string, left: Cell, right: Cell) {
    const [text, expectedText] = [left.getChars(), right.getChars()];
    const blank = expectedText === "" || expectedText === " ";
    if (text !== expectedText)
      note(blank && text.trim() === "" ? `${of}hole` : `${of}text`, where, text, expectedText);
    if (left.getWidth() !== right.getWidth()) note(`${of}width`, where, left.getWidth(), right.getWidth());
    compareColours(`${of}`, "background", where, left.bg & COLOUR, right.bg & COLOUR);
    if ((right.fg | left.fg) & 0x10000000) same(`${of}underline`, underline(left), underline(right), where);
    same(`${of}link`, link(a, left), link(b, right), where);
    if (blank && !((left.fg | right.fg) & SEEN_ON_BLANKS) && !((left.bg | right.bg) & OVERLINE)) {
      const unseen = (cell: Cell) => [cell.fg, cell.bg & BG_FLAGS];
      same(`${of}blank's style`, unseen(left), unseen(right), where);
      return;
    }
    same(
      `${of}style`,
      [left.fg & FG_FLAGS, left.bg & BG_FLAGS],
      [right.fg & FG_FLAGS, right.bg & BG_FLAGS],
      where,
    );
    compareColours(of, "foreground", where, left.fg & COLOUR, right.fg & COLOUR);
  }

  function compareColours(of: string, which: string, where: string, left: number, right: number) {
    if (left === right) return;
    const palette = (colour: number) => (colour & MODE) === P16 || (colour & MODE) === P256;
    const sameIndex = palette(left) && palette(right) && (left & 0xff) === (right & 0xff);
    note(sameIndex ? `${of}16 as 256` : `${of}${which}`, where, left.toString(16), right.toString(16));
  }
}

/** Column 0 is ignored: a back tab always stops there. */
function tabs(buffer: Buffer): string[] {
  return Object.keys(buffer.tabs).filter(column => buffer.tabs[Number(column)] && column !== "0");
}

function modes(core: Core): unknown {
  const { coreService, coreMouseService } = core;
  return {
    ...sorted({ ...coreService.modes, ...coreService.decPrivateModes }),
    hidden: coreService.isCursorHidden,
    mouse: [coreMouseService.activeProtocol, coreMouseService.activeEncoding],
    newLine: core.options.convertEol,
    cursor: [core.options.cursorStyle, core.options.cursorBlink],
  };
}

function charsets(core: Core, other: Core): unknown {
  const { glevel, charset, _charsets } = core._charsetService;
  return [glevel, charsetName(charset, other), [0, 1, 2, 3].map(g => charsetName(_charsets[g], other))];
}

/** A charset is a table; two charsets are equal if their entries are. */
function charsetName(charset: object | undefined, _core: Core): string {
  return charset && Object.keys(charset).length > 0 ? JSON.stringify(charset) : "ASCII";
}

function saved(core: Core, buffer: Buffer): unknown {
  return [buffer.savedX, Math.max(0, buffer.savedY - buffer.ybase), pen(core, buffer.savedCurAttrData, true)];
}

/** The attributes of the next character. xterm.js does not save the underline style with the cursor, so `plain` omits it. */
function pen(core: Core, cell: Cell, plain = false): unknown {
  const colour = (value: number) =>
    (value & MODE) === P256 && (value & 0xff) < 16 ? P16 | (value & 0xff) : value & COLOUR;
  const style = [colour(cell.fg), (cell.fg & FG_FLAGS) >>> 0, colour(cell.bg), (cell.bg & BG_FLAGS) >>> 0];
  return plain ? style : [...style, underline(cell), link(core, cell)];
}

function underline(cell: Cell): unknown {
  if (!(cell.fg & 0x10000000)) return undefined;
  // Without extended attributes, `extended` is that of another cell: a single underline in the colour of the text.
  const { underlineStyle, underlineColor } = cell.extended;
  // SGR 59 (default underline colour) sets all bits.
  const colour = underlineColor & COLOUR;
  return cell.bg & HAS_EXTENDED && underlineStyle
    ? [underlineStyle, colour & MODE && colour !== COLOUR ? colour : 0]
    : [1, 0];
}

function link(core: Core, cell: Cell): string {
  if (!(cell.bg & HAS_EXTENDED)) return "";
  return (cell.extended.urlId && core._oscLinkService.getLinkData(cell.extended.urlId)?.uri) || "";
}

function clone<T extends object>(value: T): T {
  return Object.assign(Object.create(Object.getPrototypeOf(value)), value);
}

function sorted<T>(of: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1)));
}
