import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import {
  continues,
  forgetNotes,
  forgetSpace,
  hasText,
  isEmpty,
  isSpaced,
  keepWrap,
  type Line,
  noteSpace,
  noteWraps,
} from "../../src/terminal/xterm-rows";

async function rows(written: string) {
  const terminal = new Terminal({ cols: 4, rows: 3, allowProposedApi: true });
  await new Promise<void>(resolve => terminal.write(written, resolve));
  const { buffers } = (
    terminal as unknown as {
      _core: { buffers: { active: { ybase: number; y: number; lines: { get(y: number): Line } } } };
    }
  )._core;
  return { buffer: buffers.active, row: (y: number) => buffers.active.lines.get(y) };
}

test("a row that keeps its wrap after it was erased does not continue the row above", async () => {
  const { row } = await rows("abcde");
  expect(continues(row(1))).toBe(true);
  keepWrap(row(1));
  expect([row(1).isWrapped, continues(row(1))]).toEqual([true, false]);
  forgetNotes(row(1));
  expect(continues(row(1))).toBe(true);
});

test("the last column that a wide character did not fit into is noted", async () => {
  const { buffer, row } = await rows("abc漢");
  noteWraps(buffer, row(0));
  expect([isSpaced(row(0)), isSpaced(row(1))]).toEqual([true, false]);
  forgetSpace(row(0));
  expect(isSpaced(row(0))).toBe(false);
});

test("a last column with text is never a space", async () => {
  const { row } = await rows("abcd");
  noteSpace(row(0));
  expect(isSpaced(row(0))).toBe(false);
});

test("a cell with a background, and the second half of a wide character, are not empty", async () => {
  const { row } = await rows("漢\x1b[41m\x1b[X");
  expect([0, 1, 2, 3].map(x => isEmpty(row(0), x))).toEqual([false, false, false, true]);
  expect([hasText(row(0)), hasText(row(1))]).toEqual([true, false]);
});
