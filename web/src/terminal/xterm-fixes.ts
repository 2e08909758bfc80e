// Corrects xterm.js 6 where it differs from the server's emulator, libghostty, which follows xterm. Snapshots are
// painted from the server's screen, so without these corrections a reattach would change the visible screen:
//
//   - wraps into the next row, visible in wider windows and in copied text: erasing the end of a row ends the wrap
//     into the next row, but not the wrap into the row itself; inserting, deleting or scrolling lines within a region
//     ends the wraps of the moved rows;
//   - erasing while a wrap is pending (a full row, then `CSI K`) also erases the last column;
//   - `CSI S` moves rows at the top of the screen into the scrollback;
//   - `CSI 1 J` in the last cell of the screen makes xterm.js throw and show nothing afterwards;
//   - large counts such as `CSI 2147483647 L` block xterm.js for minutes, so they are limited to the useful maximum;
//   - a saved cursor (DECSC) is a position on the screen, independent of later scrolling.
//
// This module handles only these sequences, not text. Internal interfaces are checked first: a version of xterm.js
// without them is left unchanged, which `xterm-fixes.test.ts` detects.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";
import {
  type CursorCore,
  correctCursor,
  endLink,
  hasCursorInternals,
  shareState,
} from "./xterm-cursor-fixes";
import { correctPrinting } from "./xterm-printing";
import { type ResizableBuffer, resizeBuffer } from "./xterm-resize";
import { continues, forgetSpace, keepWrap, rowAt } from "./xterm-rows";
import { correctScrolling, shiftRows } from "./xterm-wraps";

/** Control functions with a repeat count, keyed by final byte. */
const REPEATED = {
  L: "insertLines",
  M: "deleteLines",
  S: "scrollUp",
  T: "scrollDown",
  I: "cursorForwardTab",
  Z: "cursorBackwardTab",
} as const;

/** The type is also compatible with @xterm/headless. */
export type Correctable = Pick<Terminal, "parser" | "cols" | "options"> & {
  buffer: Pick<Terminal["buffer"], "onBufferChange">;
};

type CursorBuffer = CursorCore["buffers"]["normal"];

interface Buffer extends ResizableBuffer, CursorBuffer {
  resize(cols: number, rows: number): void;
}

type Erase = (params: { params: number[] }, keepProtected: boolean) => boolean;
type Repeat = (params: { params: number[] }) => boolean;

interface Modes {
  wraparound: boolean;
  synchronizedOutput: boolean;
}

interface Core extends Omit<CursorCore, "buffers" | "_inputHandler"> {
  coreService: { decPrivateModes: Modes };
  buffers: { normal: Buffer; alt: Buffer; active: Buffer };
  _inputHandler: CursorCore["_inputHandler"] &
    Record<"eraseInLine" | "eraseInDisplay", Erase> &
    Record<(typeof REPEATED)[keyof typeof REPEATED], Repeat> &
    Record<"lineFeed" | "reverseIndex", () => boolean>;
  _bufferService: { scroll(blank: unknown, isWrapped?: boolean): void };
  /** Scrolls the scroll region up by one row. */
  scroll(blank: unknown): void;
}

type Params = (number | number[])[];

/** Installs the corrections. Disposing of the result removes them, except for saved cursors. */
export function correctXterm(terminal: Correctable): Disposable {
  const disposables = new DisposableList();
  const core = coreOf(terminal);
  if (!core) return disposables;
  const csi = (prefix: "" | "?", final: string, handle: (how: number) => boolean) => {
    const id = prefix ? { prefix, final } : { final };
    disposables.add(terminal.parser.registerCsiHandler(id, ([how]: Params) => handle(Number(how ?? 0))));
  };
  for (const prefix of ["", "?"] as const) {
    csi(prefix, "K", how => eraseInLine(core, terminal.cols, how, prefix === "?"));
    csi(prefix, "J", how => eraseInDisplay(core, terminal.cols, how, prefix === "?"));
  }
  for (const final of ["X", "P"]) csi("", final, () => unwrap(core.buffers.active));
  for (const final of Object.keys(REPEATED) as (keyof typeof REPEATED)[]) {
    csi("", final, count => repeat(core, terminal.cols, final, count));
  }
  disposables.add(
    terminal.parser.registerEscHandler({ final: "M" }, () => {
      const { y, scrollTop } = core.buffers.active;
      if (y !== scrollTop) return false;
      return shiftRows(core.buffers.active, y, () => core._inputHandler.reverseIndex());
    }),
    // A reset creates new buffers and fires this event.
    terminal.buffer.onBufferChange(() => {
      fixBuffers(core);
      endLink(core);
    }),
  );
  fixBuffers(core);
  const { convertEol } = terminal.options;
  disposables.add(
    terminal.parser.registerEscHandler({ final: "c" }, () => {
      terminal.options.convertEol = convertEol ?? false; // mode 20
      return false;
    }),
    terminal.parser.registerCsiHandler({ prefix: "?", final: "h" }, params => {
      const { alt, active } = core.buffers;
      if (params.includes(1049) && active === alt) core._inputHandler.eraseInDisplay({ params: [2] }, false);
      return false;
    }),
  );
  disposables.add(correctCursor(terminal.parser, core));
  disposables.add(correctPrinting(terminal.parser, core));
  disposables.add(fixLineFeed(core), correctScrolling(core));
  return disposables;
}

/** Preserves the wrap into the row below, which xterm.js would end when the cursor moves down. */
function fixLineFeed({ buffers, _inputHandler }: Core): Disposable {
  const { lineFeed } = _inputHandler;
  _inputHandler.lineFeed = () => {
    const { active } = buffers;
    if (active.y === active.scrollBottom) return lineFeed.call(_inputHandler); // scrolls
    const below = rowAt(active, active.y + 1);
    const wraps = below?.isWrapped;
    const done = lineFeed.call(_inputHandler);
    if (below && wraps) below.isWrapped = true;
    return done;
  };
  return {
    dispose: () => {
      _inputHandler.lineFeed = lineFeed;
    },
  };
}

// Each handler returns true if it has handled the sequence; otherwise, xterm.js processes the sequence as well.

function eraseInLine(
  { buffers, _inputHandler }: Core,
  cols: number,
  how: number,
  keepProtected: boolean,
): boolean {
  if (how > 2) return false;
  const buffer = buffers.active;
  endPendingWrap(buffer, cols);
  const row = rowAt(buffer, buffer.y);
  if (how === 1) {
    if (row && buffer.x >= cols - 1) forgetSpace(row);
    return false;
  }
  unwrap(buffer);
  if (!row?.isWrapped || (how === 0 && buffer.x > 0)) return false;
  _inputHandler.eraseInLine({ params: [how] }, keepProtected);
  row.isWrapped = true;
  return true;
}

function eraseInDisplay(
  { buffers, _inputHandler }: Core,
  cols: number,
  how: number,
  keepProtected: boolean,
): boolean {
  if (how > 2) return false;
  const buffer = buffers.active;
  endPendingWrap(buffer, cols);
  if (how === 2) return keepFirst(buffer, () => _inputHandler.eraseInDisplay({ params: [2] }, keepProtected));
  const row = rowAt(buffer, buffer.y);
  if (how === 0 && buffer.x === 0 && row?.isWrapped) {
    _inputHandler.eraseInDisplay({ params: [0] }, keepProtected);
    row.isWrapped = true;
    return true;
  }
  if (how !== 1) return false;
  const { x } = buffer;
  return keepFirst(
    buffer,
    () => {
      if (x >= cols - 1) {
        // In the last column, xterm.js accesses the wrong row, or one that doesn't exist.
        _inputHandler.eraseInLine({ params: [1] }, keepProtected);
        if (row) forgetSpace(row);
        buffer.x--;
      }
      _inputHandler.eraseInDisplay({ params: [1] }, keepProtected);
      buffer.x = x;
    },
    buffer.y === 0,
  );
}

function repeat(core: Core, cols: number, final: keyof typeof REPEATED, count: number): boolean {
  const buffer = core.buffers.active;
  const most = Math.max(cols, buffer.scrollBottom + 1);
  const { _hasScrollback: kept, scrollTop, scrollBottom } = buffer;
  if (final === "S" && scrollTop === 0 && (kept || scrollBottom === buffer._rows - 1)) {
    for (let left = Math.min(count || 1, scrollBottom + 1); left > 0; left--)
      core.scroll(core._inputHandler._eraseAttrData());
    return true;
  }
  const run = () => core._inputHandler[REPEATED[final]]({ params: [Math.min(count, most)] });
  if (final === "L" || final === "M") return shiftRows(buffer, buffer.y, run);
  if (final === "S" || final === "T") return shiftRows(buffer, scrollTop, run);
  if (count <= most) return false;
  run();
  return true;
}

/**
 * Calls `run`, which erases rows. A wrap from the scrollback into the first row is kept.
 *
 * `attached` is true if the first row still continues the scrollback because only part of it is erased.
 */
function keepFirst(buffer: Buffer, run: () => unknown, attached = false): true {
  const first = rowAt(buffer, 0);
  const [wrapped, continued] = [first?.isWrapped, first && continues(first)];
  run();
  if (first && wrapped) keepWrap(first, attached && continued);
  return true;
}

function endPendingWrap(buffer: Buffer, cols: number): void {
  if (buffer.x >= cols) buffer.x = cols - 1;
}

/** Ends the wrap of the cursor's row. */
function unwrap(buffer: Buffer): boolean {
  const below = rowAt(buffer, buffer.y + 1);
  if (below) below.isWrapped = false;
  return false;
}

/** Corrects the buffers that xterm.js has created since the last call. */
function fixBuffers(core: Core): void {
  const { normal, alt, active } = core.buffers;
  for (const buffer of [normal, alt]) {
    if (!Object.hasOwn(buffer, "resize")) fixBuffer(buffer, () => core.coreService.decPrivateModes);
  }
  if (!Object.hasOwn(alt, "clear")) shareState(core.buffers);
  if (active === alt) widest.set(alt, widest.get(alt) ?? alt._cols);
}

/** The maximum number of columns that a buffer has had since its last reflow, or since it was first shown. */
const widest = new WeakMap<Buffer, number>();

function fixBuffer(buffer: Buffer, modes: () => Modes): void {
  // xterm.js stores a saved cursor's row as a buffer index, which becomes wrong when the buffer scrolls.
  let row = buffer.savedY - buffer.ybase;
  let saved = false;
  Object.defineProperty(buffer, "savedY", {
    configurable: true,
    enumerable: true,
    get: () => row + buffer.ybase,
    set: (y: number) => {
      row = y - buffer.ybase;
      saved = true;
    },
  });
  const resize = (cols: number, rows: number) => {
    const reflow = modes().wraparound && buffer._hasScrollback;
    const had = widest.get(buffer) ?? buffer._cols;
    resizeBuffer(buffer, cols, rows, { reflow, saved, keepWraps: had >= cols });
    if (widest.has(buffer) || buffer._hasScrollback) widest.set(buffer, reflow ? cols : Math.max(had, cols));
    modes().synchronizedOutput = false;
  };
  const { setupTabStops } = buffer;
  // After a resize, xterm.js calls this method with an argument to restore tab stops, including stops that programs
  // have cleared. The call is ignored, because `resizeBuffer` has already set the tab stops.
  const tabStops = (first?: number) => first === undefined && setupTabStops.call(buffer);
  Object.defineProperty(buffer, "setupTabStops", { configurable: true, value: tabStops });
  Object.defineProperty(buffer, "resize", { configurable: true, value: resize });
}

/** Returns undefined if this version of xterm.js has different internals. */
function coreOf(terminal: Correctable): Core | undefined {
  const core = (terminal as { _core?: Partial<Core> })._core;
  const handler = core?._inputHandler;
  const used = ["eraseInLine", "eraseInDisplay", ...Object.values(REPEATED)] as const;
  const functions = [core?.scroll, core?._bufferService?.scroll, ...used.map(name => handler?.[name])];
  const known =
    core !== undefined &&
    hasCursorInternals(core as Partial<CursorCore>) &&
    functions.every(one => typeof one === "function") &&
    [core?.buffers?.normal, core?.buffers?.alt, core?.buffers?.active].every(isBuffer);
  return known ? (core as Core) : undefined;
}

function isBuffer(buffer: Buffer | undefined): boolean {
  const numbers = [
    buffer?.x,
    buffer?.y,
    buffer?.ybase,
    buffer?.savedY,
    buffer?.scrollTop,
    buffer?.scrollBottom,
  ];
  return numbers.every(value => typeof value === "number") && typeof buffer?.lines?.get === "function";
}
