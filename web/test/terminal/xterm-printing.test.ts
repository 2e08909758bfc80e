// Uses the real xterm.js. The expected values are what libghostty, the server's emulator, does with the same bytes.

import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import { correctXterm } from "../../src/terminal/xterm-fixes";

interface Cell {
  getChars(): string;
  getWidth(): number;
  fg: number;
  bg: number;
  extended: { urlId: number };
}

async function shown(written: string, ...more: string[]) {
  const terminal = new Terminal({ cols: 10, rows: 4, allowProposedApi: true });
  correctXterm(terminal);
  for (const part of [written, ...more]) await new Promise<void>(resolve => terminal.write(part, resolve));
  const buffer = terminal.buffer.active;
  return {
    first: buffer.getLine(0)?.translateToString(true),
    cursor: [buffer.cursorX, buffer.cursorY],
    cell: (x: number) => buffer.getLine(0)?.getCell(x) as unknown as Cell,
  };
}

test.each([
  ["SS2 takes one character from G2", "\x1b*0\x1bNqq", "─q"],
  ["SS3 takes one character from G3", "\x1b+0a\x1bOqq", "a─q"],
  ["LS1R changes nothing for 7-bit characters", "\x1b)0\x1b~q", "q"],
  ["LS2R changes nothing for 7-bit characters", "\x1b*0\x1b}q", "q"],
  ["a set of 96 characters cannot be selected", "\x1b-0\x0eq", "q"],
  ["a character without width in the first column is dropped", "\u0301a\r\u0301b", "b"],
  ["a character without width joins the one before it", "e\u0301", "e\u0301"],
  ["a character without width joins the cell before the cursor", "ab\x1b[m\u0301", "ab\u0301"],
  ["a character without width joins a wide one", "漢\x1b[m\u0301", "漢\u0301"],
  [
    "a character without width joins the last cell before a wrap",
    `${"a".repeat(10)}\x1b[m\u0301`,
    `${"a".repeat(10)}\u0301`,
  ],
  ["a character without width is dropped behind a blank", "\x1b[3G\u0301a", "  a"],
  ["a variation selector joins an emoji", "❤\ufe0f", "❤\ufe0f"],
  ["a variation selector joins nothing else", "1\ufe0f\u20e3", "1\u20e3"],
  ["REP repeats the last character", "a\x1b[2b", "aaa"],
  ["REP repeats it behind other sequences", "a\x1b[5G\x1b[31m\x1b[b", "a   a"],
  ["REP repeats nothing after a reset", "a\x1bc\x1b[b", ""],
])("%s", async (_, written, expected) => {
  expect((await shown(written)).first).toBe(expected);
});

test("a character without width that arrives later joins the same cell", async () => {
  const { first, cursor } = await shown("ae", "\u0301");
  expect([first, cursor]).toEqual(["ae\u0301", [2, 0]]);
});

test.each([
  ["first", "漢\x1b[H", 1],
  ["second", "漢\x1b[2G", 0],
])("the %s half of a wide character that is overwritten leaves only a background", async (_, written, x) => {
  const { cell } = await shown(`${written}\x1b[42;53m\x1b]8;;http://a/\x07x`);
  const { fg, bg, extended } = cell(x);
  expect([cell(x).getChars(), fg, bg & 0xff, bg >>> 26, extended.urlId]).toEqual(["", 0, 2, 0, 0]);
});

test("the last column is not linked if a wide character did not fit", async () => {
  const { cell } = await shown(`\x1b]8;;http://a/\x07${"a".repeat(9)}漢`);
  expect([cell(8).extended.urlId > 0, cell(9).extended.urlId]).toEqual([true, 0]);
});

test("text on an erased first row wraps the same at once and in pieces", async () => {
  const rows = async (...written: string[]) => {
    const terminal = new Terminal({ cols: 10, rows: 4, allowProposedApi: true });
    correctXterm(terminal);
    const write = (text: string) => new Promise<void>(resolve => terminal.write(text, resolve));
    for (const part of ["a".repeat(110), "\x1b[2J\x1b[H", ...written]) await write(part);
    terminal.resize(30, 4);
    const buffer = terminal.buffer.active;
    return Array.from({ length: buffer.length }, (_, y) => buffer.getLine(y)?.translateToString(true));
  };
  const text = "b".repeat(25);
  expect(await rows(...(text.match(/.{5}/g) ?? []))).toEqual(await rows(text));
});
