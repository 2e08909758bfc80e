import { expect, test } from "vitest";
import { estimatedSize } from "../../../src/page/terminal/estimated-size";

test("the size is the number of cells that fit beside the frame", () => {
  expect(estimatedSize({ clientWidth: 1024, clientHeight: 700 }, 14)).toEqual({ cols: 118, rows: 40 });
});

test("an element that is not shown has none, and a very large one a limit", () => {
  expect(estimatedSize({ clientWidth: 0, clientHeight: 0 }, 14)).toBeUndefined();
  expect(estimatedSize({ clientWidth: 99_999, clientHeight: 99_999 }, 8)).toEqual({ cols: 1000, rows: 1000 });
});
