// Uses the real xterm.js. The expected values are what libghostty, the server's emulator, does with the same bytes.

import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import { correctXterm } from "../../src/terminal/xterm-fixes";

async function shown(written: string) {
  const terminal = new Terminal({ cols: 10, rows: 4, allowProposedApi: true });
  correctXterm(terminal);
  await new Promise<void>(resolve => terminal.write(written, resolve));
  const buffer = terminal.buffer.active;
  return {
    terminal,
    first: buffer.getLine(0)?.translateToString(true),
    cursor: [buffer.cursorX, buffer.cursorY],
    widths: Array.from({ length: 10 }, (_, x) => buffer.getLine(0)?.getCell(x)?.getWidth()).join(""),
  };
}

test.each([
  ["DECRC restores the character set of G0", "\x1b(0\x1b7\x1b(B\x1b8q\x0f", "─"],
  ["DECRC restores which set is used", "\x1b)0\x0e\x1b7\x0f\x1b8q\x0eq", "──"],
  ["DECRC without DECSC selects ASCII", "\x1b(0\x1b8q", "q"],
])("%s", async (_, written, expected) => {
  expect((await shown(written)).first).toBe(expected);
});

test("DECRC restores a pending wrap", async () => {
  expect((await shown("aaaaaaaaaa\x1b7\x1b[H\x1b8")).cursor).toEqual([10, 0]);
});

test("a link stays open after DECRC", async () => {
  const { terminal } = await shown("\x1b7\x1b]8;;http://a/\x07a\x1b8b");
  const core = (
    terminal as unknown as { _core: { _inputHandler: { _curAttrData: { hasExtendedAttrs(): number } } } }
  )._core;
  expect(core._inputHandler._curAttrData.hasExtendedAttrs()).toBeTruthy();
});

test("a link does not continue on the alternate screen", async () => {
  const { terminal } = await shown("\x1b]8;;http://a/\x07a\x1b[?1049hb");
  const core = (
    terminal as unknown as { _core: { _inputHandler: { _curAttrData: { hasExtendedAttrs(): number } } } }
  )._core;
  expect(core._inputHandler._curAttrData.hasExtendedAttrs()).toBeFalsy();
});

test("both screens share tab stops and scroll region", async () => {
  expect((await shown("\x1b[?1049h\x1b[3g\x1b[?1049l\t")).cursor).toEqual([9, 0]);
  expect((await shown("\x1b[?1049h\x1b[2;3r\x1b[?1049l\x1b[3;1H\n")).cursor).toEqual([0, 2]);
});

test("a blank that is inserted in the middle of a wide character erases both halves", async () => {
  const { first, widths } = await shown("漢字\x1b[2G\x1b[@");
  expect([first, widths]).toEqual(["   字", "1112011111"]);
});

test("a reset creates buffers that are corrected too", async () => {
  expect((await shown("\x1bc\x1b[?1049h\x1b[3g\x1b[?1049l\t")).cursor).toEqual([9, 0]);
});
