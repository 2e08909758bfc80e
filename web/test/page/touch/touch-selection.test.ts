import type { Terminal } from "@xterm/xterm";
import { expect, test, vi } from "vitest";
import { between, cellAt, rangeOf, select } from "../../../src/page/touch/touch-selection";

/** 10 columns and 5 rows of 8 by 16 pixels at (100, 50), scrolled to line 20. */
function terminal() {
  const box = { left: 100, top: 50, width: 80, height: 80 };
  return {
    cols: 10,
    rows: 5,
    buffer: { active: { viewportY: 20 } },
    element: { querySelector: () => ({ getBoundingClientRect: () => box }) },
    scrollLines: vi.fn(),
    select: vi.fn(),
  };
}

test("a range has both cells, whichever is first", () => {
  expect(between(3, 7)).toEqual({ start: 3, end: 8 });
  expect(between(7, 3)).toEqual({ start: 3, end: 8 });
  expect(between(5, 5)).toEqual({ start: 5, end: 6 });
});

test("a range over lines becomes a number of cells", () => {
  const range = rangeOf({ start: { x: 8, y: 1 }, end: { x: 2, y: 3 } }, 10);
  expect(range).toEqual({ start: 18, end: 32 });
  const fake = terminal();
  select(fake as unknown as Terminal, range);
  expect(fake.select).toHaveBeenCalledExactlyOnceWith(8, 1, 14);
});

test.each([
  [100, 50, 200, []],
  [179, 129, 249, []],
  [120, 70, 212, []],
  [5, 10, 200, [-1]],
  [500, 500, 249, [1]],
])("at (%i, %i) is cell %i", (x, y, cell, scrolled) => {
  const fake = terminal();
  expect(cellAt(fake as unknown as Terminal, x, y)).toBe(cell);
  expect(fake.scrollLines.mock.calls.flat()).toEqual(scrolled);
});

test("a terminal that is not shown has no cells", () => {
  const fake = { ...terminal(), element: undefined };
  expect(cellAt(fake as unknown as Terminal, 1, 1)).toBeUndefined();
});
