// Corrects cursor state in xterm.js 6, in addition to `xterm-fixes.ts`:
//
//   - DECSC and DECRC save and restore all character sets and a pending wrap; an open link (OSC 8) stays open;
//   - the two screens share tab stops and the scroll region, and a link doesn't continue on the other screen;
//   - inserting blanks in the middle of a wide character erases both halves.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";
import type { PrintingCore } from "./xterm-printing";
import type { ResizableBuffer } from "./xterm-resize";
import { type Line, rowAt } from "./xterm-rows";

interface Charsets {
  charset: object | undefined;
  glevel: number;
  _charsets: (object | undefined)[];
  setgLevel(level: number): void;
}

type Tabs = Record<number, boolean | undefined>;

interface CursorBuffer extends ResizableBuffer {
  tabs: Tabs;
  clear(): void;
}

export interface CursorCore extends PrintingCore {
  buffers: { normal: CursorBuffer; alt: CursorBuffer; active: CursorBuffer };
  _charsetService: Charsets;
  _inputHandler: PrintingCore["_inputHandler"] & {
    saveCursor(params?: unknown): boolean;
    restoreCursor(params?: unknown): boolean;
  };
}

/** The bit in a cell's foreground value that means underlined. */
const UNDERLINE = 0x10000000;

/** Returns whether this version of xterm.js has the internals used here. */
export function hasCursorInternals(core: Partial<CursorCore>): core is CursorCore {
  const { _inputHandler: handler, _charsetService: sets, unicodeService, buffers } = core;
  const { saveCursor, restoreCursor, print, _eraseAttrData } = handler ?? {};
  const functions = [saveCursor, restoreCursor, print, _eraseAttrData, sets?.setgLevel];
  return (
    [...functions, unicodeService?.wcwidth, buffers?.alt?.clear].every(one => typeof one === "function") &&
    Array.isArray(sets?._charsets) &&
    typeof handler?._curAttrData?.updateExtended === "function"
  );
}

/** Installs the corrections. `core` and `parser` must belong to the same terminal. */
export function correctCursor(parser: Terminal["parser"], core: CursorCore): Disposable {
  const disposables = new DisposableList();
  disposables.add(correctSaving(core));
  disposables.add(
    parser.registerCsiHandler({ final: "@" }, () => {
      const { active } = core.buffers;
      splitWide(rowAt(active, active.y), active.x, active.getNullCell());
      return false;
    }),
  );
  return disposables;
}

/** Makes both screens share tab stops and the scroll region. Called with newly created buffers. */
export function shareState({ normal, alt }: { normal: CursorBuffer; alt: CursorBuffer }): void {
  const share = <K extends "tabs" | "scrollTop" | "scrollBottom">(name: K) =>
    Object.defineProperty(alt, name, {
      configurable: true,
      enumerable: true,
      get: () => normal[name],
      set: (value: CursorBuffer[K]) => {
        normal[name] = value;
      },
    });
  share("tabs");
  share("scrollTop");
  share("scrollBottom");
  const { clear } = alt;
  alt.clear = () => {
    const { scrollTop, scrollBottom, tabs } = normal;
    clear.call(alt); // the alternate screen is hidden at this point
    Object.assign(normal, { scrollTop, scrollBottom, tabs });
  };
}

/** Ends the open link. Called when a program switches between the main and the alternate screen. */
export function endLink({ _inputHandler: { _curAttrData: pen } }: CursorCore): void {
  if (!pen.extended.urlId) return;
  pen.extended = pen.extended.clone();
  pen.extended.urlId = 0;
  pen.updateExtended();
}

function correctSaving({ buffers, _charsetService: sets, _inputHandler: handler }: CursorCore): Disposable {
  const { saveCursor, restoreCursor } = handler;
  const saved = new WeakMap<CursorBuffer, Pick<Charsets, "_charsets" | "glevel">>();
  handler.saveCursor = params => {
    saved.set(buffers.active, { _charsets: [...sets._charsets], glevel: sets.glevel });
    return saveCursor.call(handler, params);
  };
  handler.restoreCursor = params => {
    const { active } = buffers;
    const done = restoreCursor.call(handler, params);
    const { _charsets, glevel } = saved.get(active) ?? { _charsets: [], glevel: 0 };
    sets._charsets = [..._charsets];
    sets.setgLevel(glevel);
    if (active.savedX >= active._cols) active.x = active._cols;
    const { _curAttrData: pen } = handler;
    if (pen.extended.urlId) {
      pen.extended = pen.extended.clone();
      pen.extended.underlineStyle = pen.fg & UNDERLINE ? 1 : 0;
      pen.updateExtended();
    }
    return done;
  };
  return {
    dispose: () => {
      Object.assign(handler, { saveCursor, restoreCursor });
    },
  };
}

/** Erases the wide character whose second half is in column `x`. */
function splitWide(line: Line | undefined, x: number, blank: unknown): void {
  if (line && x > 0 && x < line.length && line.getWidth(x - 1) === 2) line.replaceCells(x - 1, x + 1, blank);
}
