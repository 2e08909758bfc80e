// Which rows continue in the next row after rows have moved. The server's emulator notes in a row that it wraps into
// the next one; xterm.js notes in the next row that it continues the row above. So they differ where one of the two rows
// moves and the other one does not.

import type { Disposable } from "../base/disposables";
import type { ResizableBuffer } from "./xterm-resize";
import { keepWrap, type Line } from "./xterm-rows";

interface ScrollCore {
  buffers: { active: ResizableBuffer };
  _bufferService: { scroll(blank: unknown, isWrapped?: boolean): void };
}

/** Corrects a line feed, or a wrap, in the last row of a scroll region. */
export function correctScrolling({ buffers, _bufferService: service }: ScrollCore): Disposable {
  const { scroll } = service;
  service.scroll = (blank, isWrapped = false) => {
    const { active } = buffers;
    const { scrollTop: top, scrollBottom: bottom } = active;
    if (top === 0 && bottom === active._rows - 1) return scroll.call(service, blank, isWrapped);
    const wrapped = (y: number) => rowAt(active, y)?.isWrapped ?? false;
    const [first, second, below] = [wrapped(top), wrapped(top + 1), wrapped(bottom + 1)];
    scroll.call(service, blank, isWrapped);
    if (!isWrapped) setWrap(rowAt(active, bottom), below);
    if (top === 0 && active._hasScrollback) setWrap(rowAt(active, bottom + 1), false);
    else {
      setWrap(rowAt(active, top), first);
      setWrap(rowAt(active, bottom + 1), second); // the last row gets the note of the first one
    }
  };
  return {
    dispose: () => {
      service.scroll = scroll;
    },
  };
}

/**
 * Calls `run`, which inserts or deletes `count` rows at row `top` of the scroll region.
 *
 * The wraps of moved rows end. Rows in the middle that are only erased keep theirs, and so does the row above `top`.
 */
export function shiftRows(buffer: ResizableBuffer, top: number, count: number, run: () => unknown): true {
  const { scrollTop, scrollBottom } = buffer;
  if (top < scrollTop || top > scrollBottom) {
    run();
    return true;
  }
  const rows = scrollBottom - top + 1;
  const shift = Math.min(Math.max(count, 1), rows);
  const moved = (y: number) => y < rows - shift || y >= shift;
  const before = Array.from({ length: rows + 1 }, (_, y) => rowAt(buffer, top + y)?.isWrapped ?? false);
  run();
  for (const [y, wrapped] of before.entries()) {
    const row = rowAt(buffer, top + y);
    if (row && moved(y)) row.isWrapped = false;
    setWrap(row, wrapped && (y === 0 || !moved(y - 1)));
  }
  return true;
}

function rowAt(buffer: ResizableBuffer, y: number): Line | undefined {
  return y < buffer._rows ? buffer.lines.get(buffer.ybase + y) : undefined;
}

/** Sets whether the row above wraps into `row`, which may not continue it. */
function setWrap(row: Line | undefined, wraps: boolean): void {
  if (!row) return;
  if (!wraps) row.isWrapped = false;
  else if (!row.isWrapped) keepWrap(row);
}
