// Uses the real xterm.js. The expected values are what libghostty, the server's emulator, does with the same bytes.

import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import { correctXterm } from "../../src/terminal/xterm-fixes";

/** One character per row: `w` if the row continues the one above. */
async function wraps(written: string) {
  const terminal = new Terminal({ cols: 10, rows: 5, allowProposedApi: true });
  correctXterm(terminal);
  await new Promise<void>(resolve => terminal.write(`${"abcdefghij".repeat(4)}abcde${written}`, resolve));
  const { active } = terminal.buffer;
  return Array.from({ length: 5 }, (_, y) => (active.getLine(active.baseY + y)?.isWrapped ? "w" : "-")).join(
    "",
  );
}

test.each([
  ["a line feed in the last row of a region", "\x1b[2;4r\x1b[4;1H\n", "-www-"],
  ["a wrap in the last row of a region", "\x1b[2;4r\x1b[4;10Hxy", "-www-"],
  ["a line feed in the last row of a region at the top", "\x1b[1;3r\x1b[3;1H\n", "www-w"],
  ["a line feed outside of a region", "\x1b[2;3r\x1b[4;1H\n", "-wwww"],
  ["lines that are inserted in a region", "\x1b[2;4r\x1b[2;1H\x1b[9L", "-w---"],
  ["lines that are inserted outside of a region", "\x1b[2;3r\x1b[4;1H\x1b[L", "-wwww"],
])("row wraps equal libghostty's after %s", async (_, written, expected) => {
  expect(await wraps(written)).toBe(expected);
});

test("a row of a region that is written again continues the row above", async () => {
  expect(await wraps("\x1b[2;1H\x1b[L\x1b[1;10Hxy")).toBe("-w---");
});
