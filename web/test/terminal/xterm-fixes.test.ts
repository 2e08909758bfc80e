// Uses the real xterm.js. The expected values are what libghostty, the server's emulator, does with the same bytes.

import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import { type Correctable, correctXterm } from "../../src/terminal/xterm-fixes";

const COLS = 10;
const ROWS = 5;
/** Four and a half full rows, each wrapped into the next. */
const FULL = `${"abcdefghij".repeat(4)}abcde`;

async function shown(written: string, scrolled = "") {
  const terminal = new Terminal({ cols: COLS, rows: ROWS, allowProposedApi: true });
  correctXterm(terminal);
  await write(terminal, `${scrolled}${FULL}${written}`);
  const buffer = terminal.buffer.active;
  const rows = Array.from({ length: ROWS }, (_, y) => buffer.getLine(buffer.baseY + y));
  return {
    terminal,
    /** One character per row: `w` if the row continues the one above. */
    wraps: rows.map(row => (row?.isWrapped ? "w" : "-")).join(""),
    text: rows.map(row => row?.translateToString(true)),
    cursor: [buffer.cursorX, buffer.cursorY],
  };
}

function write(terminal: Terminal, text: string): Promise<void> {
  return new Promise(resolve => terminal.write(text, resolve));
}

const PENDING = "\x1b[2;10HX";

test.each([
  ["nothing", "", "-wwww"],
  ["the rest of a row", "\x1b[2;5H\x1b[K", "-w-ww"],
  ["all of a row from its beginning", "\x1b[2;1H\x1b[K", "-w-ww"],
  ["all of a row", "\x1b[2;5H\x1b[2K", "-w-ww"],
  ["all of a row that is not protected", "\x1b[2;5H\x1b[?2K", "-w-ww"],
  ["a row up to the cursor", "\x1b[2;5H\x1b[1K", "-wwww"],
  ["a row up to its end", "\x1b[2;10H\x1b[1K", "-wwww"],
  ["the rest of the screen", "\x1b[2;5H\x1b[J", "-w---"],
  ["the rest of the screen from a row's beginning", "\x1b[2;1H\x1b[J", "-w---"],
  ["the screen up to the cursor", "\x1b[2;5H\x1b[1J", "--www"],
  ["the screen up to a row's end", "\x1b[2;10H\x1b[1J", "--www"],
  ["all of the screen", "\x1b[2J", "-----"],
  ["characters", "\x1b[2;5H\x1b[3X", "-w-ww"],
  ["characters that are deleted", "\x1b[2;5H\x1b[P", "-w-ww"],
  ["characters by blanks between", "\x1b[2;5H\x1b[@", "-wwww"],
  ["a line that is inserted", "\x1b[2;5H\x1b[L", "-w---"],
  ["a line that is deleted", "\x1b[2;5H\x1b[M", "-w---"],
  ["a line that is inserted in a region", "\x1b[3;4r\x1b[3;1H\x1b[L", "-ww--"],
  ["a line that is deleted in a region", "\x1b[2;3r\x1b[3;1H\x1b[M", "-ww-w"],
  ["a line that is inserted outside of the region", "\x1b[3;4r\x1b[2;1H\x1b[L", "-wwww"],
  ["a region that is scrolled up", "\x1b[2;4r\x1b[S", "-w---"],
  ["a region at the top that is scrolled up", "\x1b[1;3r\x1b[S", "www-w"],
  ["a region that is scrolled down", "\x1b[2;4r\x1b[T", "-w---"],
  ["a region that a line feed scrolls up", "\x1b[2;4r\x1b[4;1H\n", "-www-"],
  ["a region at the top that a line feed scrolls up", "\x1b[1;3r\x1b[3;1H\n", "www-w"],
  ["a reverse line feed at the top", "\x1b[1;1H\x1bM", "-----"],
  ["a reverse line feed elsewhere", "\x1b[3;1H\x1bM", "-wwww"],
])("row wraps equal libghostty's after erasing %s", async (_, written, expected) => {
  expect((await shown(written)).wraps).toBe(expected);
  expect((await shown(written, "lines\r\n".repeat(9))).wraps).toBe(expected);
});

test.each(["K", "?K", "J", "?J"])("CSI %s while a wrap is pending erases the last column", async how => {
  const csi = `\x1b[${how.startsWith("?") ? "?" : ""}${how.at(-1)}`;
  const { text, cursor } = await shown(`${PENDING}${csi}`);
  expect(text[1]).toBe("abcdefghi");
  expect(cursor).toEqual([9, 1]);
});

test.each(["1K", "2K", "1J", "2J"])("CSI %s while a wrap is pending ends it", async how => {
  const { cursor } = await shown(`${PENDING}\x1b[${how}`);
  expect(cursor).toEqual([9, 1]);
});

test("erasing the scrollback leaves a wrap pending", async () => {
  expect((await shown(`${PENDING}\x1b[3J`)).cursor).toEqual([10, 1]);
});

test("erasing up to the screen's last place does not break the emulator", async () => {
  for (const scrolled of ["", "lines\r\n".repeat(9), "\x1b[?1049h"]) {
    const { text, cursor, wraps } = await shown(`\x1b[${ROWS};${COLS}H\x1b[1JX`, scrolled);
    expect(text).toEqual(["", "", "", "", "         X"]);
    expect(cursor).toEqual([10, 4]);
    expect(wraps).toBe("-----");
  }
});

test("erasing up to a row's end leaves the scrollback as it was", async () => {
  const { terminal } = await shown("\x1b[2;10H\x1b[1J", `${"x".repeat(COLS * 4)}\r\n`);
  const rows = [0, 1, 2, 3].map(y => terminal.buffer.normal.getLine(y)?.isWrapped);
  expect(rows).toEqual([false, true, true, true]);
});

test.each([
  ["ESC 7", "\x1b7", "\x1b8"],
  ["CSI s", "\x1b[s", "\x1b[u"],
  ["mode 1048", "\x1b[?1048h", "\x1b[?1048l"],
])("a cursor saved by %s keeps its screen position after scrolling", async (_, save, restore) => {
  const { cursor } = await shown(`\x1b[3;4H${save}\x1b[5;1H\n\n\n${restore}`);
  expect(cursor).toEqual([3, 2]);
});

test("a saved cursor stays where it was when the scrollback is cleared, and after a reset", async () => {
  const { terminal } = await shown("\n\n\x1b[3;4H\x1b7\x1b[3J\x1b8");
  const buffer = terminal.buffer.active;
  expect([buffer.cursorX, buffer.cursorY]).toEqual([3, 2]);
  await write(terminal, "\x1bc\x1b[2;3H\x1b7\x1b[5;1H\n\n\x1b8");
  const after = terminal.buffer.active;
  expect([after.cursorX, after.cursorY]).toEqual([2, 1]);
});

test("lines that CSI S moves off the screen are in the scrollback", async () => {
  const { terminal, text, cursor } = await shown("\x1b[2;4H\x1b[41m\x1b[2S");
  expect(terminal.buffer.active.baseY).toBe(2);
  expect(terminal.buffer.active.getLine(1)?.translateToString(true)).toBe("abcdefghij");
  expect(text).toEqual(["abcdefghij", "abcdefghij", "abcde", "", ""]);
  expect(terminal.buffer.active.getLine(6)?.getCell(0)?.getBgColor()).toBe(1);
  expect(cursor).toEqual([3, 1]);
});

test.each([
  ["all lines at most", "\x1b[2147483647S", 5],
  ["those of a region at the top", "\x1b[1;3r\x1b[9S", 3],
  ["none of a region further down", "\x1b[2;3r\x1b[9S", 0],
])("CSI S moves %s to the scrollback", async (_, written, lines) => {
  expect((await shown(written)).terminal.buffer.active.baseY).toBe(lines);
});

test.each(["L", "M", "S", "T", "I", "Z", "b", "X", "P", "@"])(
  "CSI 2147483647 %s holds nothing up",
  async final => {
    for (const region of ["", "\x1b[2;4r"]) {
      const { terminal, cursor } = await shown(`${region}\x1b[2;5HX\x1b[2147483647${final}`);
      expect(terminal.buffer.active.baseY).toBeLessThan(10_000);
      if (final !== "b") expect(cursor).toEqual([{ I: 9, Z: 0, L: 0, M: 0 }[final] ?? 5, 1]);
    }
  },
);

test("dispose removes all corrections except saved cursors", async () => {
  const terminal = new Terminal({ cols: COLS, rows: ROWS, allowProposedApi: true });
  correctXterm(terminal).dispose();
  await write(terminal, `${FULL}\x1b[2;1H\x1b[K`);
  expect(terminal.buffer.active.getLine(1)?.isWrapped).toBe(false);
});

test("an emulator with other internals is left unchanged", () => {
  const refuses = (): never => {
    throw new Error("nothing is registered");
  };
  const parser = { registerCsiHandler: refuses, registerEscHandler: refuses };
  const buffer = { onBufferChange: refuses };
  const complete = new Terminal() as unknown as { _core: { _inputHandler: object; scroll(): void } };
  const { _inputHandler, scroll } = complete._core;
  const odd = [
    undefined,
    {},
    { buffers: {} },
    { _inputHandler, scroll },
    { _inputHandler, scroll, buffers: {} },
    { ...complete._core, _inputHandler: {} },
  ];
  for (const _core of odd) {
    const other = { cols: COLS, parser, buffer, _core } as unknown as Correctable;
    expect(() => correctXterm(other).dispose()).not.toThrow();
  }
});
