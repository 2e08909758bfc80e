// Uses the real xterm.js. The expected rows are those of libghostty, the server's emulator, after the same bytes and sizes.

import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import { correctXterm } from "../../src/terminal/xterm-fixes";

type Step = string | [cols: number, rows: number];

async function shown(cols: number, rows: number, ...steps: Step[]) {
  const terminal = new Terminal({ cols, rows, scrollback: 100, allowProposedApi: true });
  correctXterm(terminal);
  for (const step of steps) {
    if (typeof step === "string") await new Promise<void>(resolve => terminal.write(step, resolve));
    else terminal.resize(...step);
  }
  const buffer = terminal.buffer.active;
  const text = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, y) => buffer.getLine(from + y)?.translateToString(true) ?? "");
  return {
    terminal,
    buffer,
    above: text(0, buffer.baseY),
    screen: text(buffer.baseY, buffer.length),
    cursor: [buffer.cursorX, buffer.cursorY],
  };
}

test("the line with the cursor is broken again for more columns", async () => {
  const { screen, cursor } = await shown(8, 4, `\r\n$ ${"y".repeat(9)}`, [12, 4]);
  expect(screen).toEqual(["", "$ yyyyyyyyy", "", ""]);
  expect(cursor).toEqual([11, 1]);
});

test("the line with the cursor is broken again for fewer columns", async () => {
  const { screen, cursor } = await shown(8, 4, `\r\n$ ${"y".repeat(7)}`, [6, 4]);
  expect(screen).toEqual(["", "$ yyyy", "yyy", ""]);
  expect(cursor).toEqual([3, 2]);
});

test("rows below the cursor are kept when there are fewer rows", async () => {
  const { above, screen, cursor } = await shown(8, 5, "$ \r\na\r\nb\r\nc\r\nd\x1b[1;3H", [8, 3]);
  expect([above, screen]).toEqual([
    ["$ ", "a"],
    ["b", "c", "d"],
  ]);
  expect(cursor).toEqual([0, 0]);
});

test("blank rows below the cursor are dropped first", async () => {
  const { above, screen, cursor } = await shown(8, 5, "a\r\nb", [8, 3]);
  expect([above, screen, cursor]).toEqual([[], ["a", "b", ""], [1, 1]]);
});

test("rows return from the scrollback only if the cursor is in the last row", async () => {
  expect((await shown(8, 2, "a\r\nb\r\nc", [8, 3])).screen).toEqual(["a", "b", "c"]);
  const higher = await shown(8, 2, "a\r\nb\r\nc\x1b[1;1H", [8, 3]);
  expect([higher.above, higher.screen]).toEqual([["a"], ["b", "c", ""]]);
});

test("no text is lost by any number of resizes", async () => {
  const text = Array.from({ length: 20 }, (_, i) => `${i}:${"x".repeat(i)}`);
  const sizes: Step[] = [
    [5, 3],
    [30, 9],
    [7, 2],
    [40, 4],
  ];
  const { above, screen } = await shown(10, 5, text.join("\r\n"), ...sizes);
  expect([...above, ...screen].filter(Boolean)).toEqual(text);
});

test("a wide character that does not fit leaves out the last column, which is no text in other widths", async () => {
  expect((await shown(5, 4, "abcd漢e", [10, 4])).screen[0]).toBe("abcd漢e");
  expect((await shown(10, 4, "abcd漢e", [5, 4])).screen.slice(0, 2)).toEqual(["abcd", "漢e"]);
});

test("a wide character that did not fit and was erased leaves no blank in other widths", async () => {
  expect((await shown(5, 4, "abcd漢\r\x1b[Kone", [10, 4])).screen[0]).toBe("abcdone");
  expect((await shown(5, 4, "abcd漢\rone", [10, 4])).screen[0]).toBe("abcd one");
});

test("the alternate screen is cut, and half a wide character at its edge erased", async () => {
  const { screen } = await shown(6, 3, "\x1b[?1049habcdef\r\nabc漢f", [4, 3]);
  expect(screen).toEqual(["abcd", "abc", ""]);
});

test("a wrap that is pending stays so in a full row, and otherwise ends", async () => {
  expect((await shown(10, 4, "abcdefghij", [5, 4])).cursor).toEqual([5, 1]);
  expect((await shown(10, 4, "abcdefghij", [12, 4])).cursor).toEqual([10, 0]);
});

test("a saved cursor stays at its character", async () => {
  const { cursor } = await shown(6, 4, "abcdef\r\nghijkl\x1b[2;4H\x1b7\x1b[H", [3, 4], "\x1b8");
  expect(cursor).toEqual([0, 3]);
});

test("marks stay at their lines, and the shown line stays where it is", async () => {
  const { terminal, buffer } = await shown(10, 3, "a\r\nbbbbbbbb\r\ncccc\r\nd");
  const mark = terminal.registerMarker(-1);
  terminal.scrollToTop();
  terminal.resize(4, 3);
  expect(buffer.getLine(mark?.line ?? -1)?.translateToString(true)).toBe("cccc");
  expect(buffer.viewportY).toBe(0);
});

test("tab stops are those of a new screen when the number of columns changes", async () => {
  expect((await shown(20, 3, "\x1b[3g", [20, 4], "\r\t")).cursor).toEqual([19, 0]);
  expect((await shown(20, 3, "\x1b[3g", [21, 3], "\r\t")).cursor).toEqual([8, 0]);
});

test("the oldest rows are dropped when lines need more rows than there is room for", async () => {
  const { above, screen } = await shown(10, 3, "xxxxxxxx\r\n".repeat(99), [4, 3]);
  expect([above.length, screen.length]).toEqual([100, 3]);
});
