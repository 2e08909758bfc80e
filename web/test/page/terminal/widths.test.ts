import { Terminal } from "@xterm/headless";
import type { Terminal as BrowserTerminal } from "@xterm/xterm";
import { expect, test } from "vitest";
import { useWidths } from "../../../src/page/terminal/widths";

/** The widths in libghostty, the server's emulator: measured, not computed. */
const SERVER = {
  "👍🏽": 4,
  "👨‍👩‍👧": 6,
  "❤️": 1,
  "🇩🇪": 4,
  한글: 4,
  "e\u0301": 1,
  "☕": 2,
  "🏳️‍🌈": 3,
  "1️⃣": 1,
  ก็: 1,
  "🫠": 2,
  "①": 1,
  "䷀": 2,
  𘫵: 2,
};

test.each(Object.entries(SERVER))("%s takes as many cells as on the server", async (text, cells) => {
  const terminal = new Terminal({ allowProposedApi: true });
  useWidths(terminal as unknown as BrowserTerminal);
  await new Promise<void>(resolve => terminal.write(text, resolve));
  expect(terminal.buffer.active.cursorX).toBe(cells);
});

test.each([
  ["a\u200bb", 2],
  ["\u1112\u1161\u11ab", 2],
  ["ｱア", 3],
  ["\u00ad", 1],
  ["a\u{e0020}b", 2],
  ["𠀀", 2],
])("%s takes %i cells: format characters and parts of syllables have none", async (text, cells) => {
  const terminal = new Terminal({ allowProposedApi: true });
  useWidths(terminal as unknown as BrowserTerminal);
  await new Promise<void>(resolve => terminal.write(text, resolve));
  expect(terminal.buffer.active.cursorX).toBe(cells);
});
