// Corrects wraps after rows have moved. The server's emulator marks a row as wrapping into the next row, whereas
// xterm.js marks the next row as continuing the one above. The two give different results if only one of the rows
// moves.

import type { Disposable } from "../base/disposables";
import type { ResizableBuffer } from "./xterm-resize";
import { keepWrap, type Line, rowAt } from "./xterm-rows";

interface ScrollCore {
  buffers: { active: ResizableBuffer };
  _bufferService: { scroll(blank: unknown, isWrapped?: boolean): void };
}

/** Corrects a line feed or a wrap in the last row of a scroll region. */
export function correctScrolling({ buffers, _bufferService: service }: ScrollCore): Disposable {
  const { scroll } = service;
  service.scroll = (blank, isWrapped = false) => {
    const { active } = buffers;
    const { scrollTop: top, scrollBottom: bottom } = active;
    if (top === 0 && bottom === active._rows - 1) return scroll.call(service, blank, isWrapped);
    const wrapped = (y: number) => rowAt(active, y)?.isWrapped ?? false;
    const [first, below] = [wrapped(top), wrapped(bottom + 1)];
    scroll.call(service, blank, isWrapped);
    if (!isWrapped) setWrap(rowAt(active, bottom), below);
    setWrap(rowAt(active, bottom + 1), false);
    if (top > 0) setWrap(rowAt(active, top), first);
  };
  return {
    dispose: () => {
      service.scroll = scroll;
    },
  };
}

/** Calls `run`, which inserts or deletes rows at row `top`. Ends all wraps from there to the end of the region. */
export function shiftRows(buffer: ResizableBuffer, top: number, run: () => unknown): true {
  const { scrollTop, scrollBottom } = buffer;
  const above = rowAt(buffer, top)?.isWrapped ?? false;
  run();
  if (top < scrollTop || top > scrollBottom) return true;
  for (let y = top; y <= scrollBottom + 1; y++) setWrap(rowAt(buffer, y), false);
  setWrap(rowAt(buffer, top), above);
  return true;
}

/**
 * Sets whether the row above wraps into `row`. If it didn't before, `row` isn't treated as the continuation of the text
 * above.
 */
function setWrap(row: Line | undefined, wraps: boolean): void {
  if (!row) return;
  if (!wraps) row.isWrapped = false;
  else if (!row.isWrapped) keepWrap(row);
}
