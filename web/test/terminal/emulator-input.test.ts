// Uses the real xterm.js, with its own replies and its internal event that distinguishes them from the user's keys.

import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import { EmulatorInput } from "../../src/terminal/emulator-input";

/** Queries that xterm.js answers: attributes, status, cursor, modes, settings. */
const QUERIES = "\x1b[c\x1b[>c\x1b[5n\x1b[6n\x1b[?6n\x1b[?2004$p\x1b[4$p\x1bP$qm\x1b\\";

function make(options: { translate?: (text: string) => string } = {}) {
  const terminal = new Terminal({ allowProposedApi: true });
  const sent: { text: string; byUser: boolean }[] = [];
  const input = new EmulatorInput(terminal, {
    ...options,
    send: (bytes, byUser) => sent.push({ text: new TextDecoder().decode(bytes), byUser }),
  });
  const write = (text: string) => new Promise<void>(resolve => terminal.write(text, resolve));
  return { terminal, input, sent, write };
}

test("while the gate is closed, no reply is sent to any query", async () => {
  const { sent, write } = make();
  await write(QUERIES);
  expect(sent).toEqual([]);
});

test("while the gate is open, replies are sent and marked as such", async () => {
  const { input, sent, write } = make();
  input.setGate(true);
  await write(QUERIES);
  expect(sent.length).toBeGreaterThanOrEqual(7);
  expect(sent.every(({ byUser }) => !byUser)).toBe(true);
  expect(sent[0]?.text).toBe("\x1b[?1;2c");
});

test("input during a replay is sent, and no reply with it", async () => {
  const { terminal, sent, write } = make();
  const parsing = write(QUERIES.repeat(5_000));
  terminal.input("l");
  await write(QUERIES);
  terminal.input("s\r");
  await parsing;
  expect(sent).toEqual([
    { text: "l", byUser: true },
    { text: "s\r", byUser: true },
  ]);
});

test("a reply after a key does not count as the user's", async () => {
  const { terminal, sent, write } = make();
  terminal.input("a");
  await write(QUERIES);
  expect(sent).toEqual([{ text: "a", byUser: true }]);
});

test("only what the user types is translated", async () => {
  const { terminal, input, sent, write } = make({ translate: text => text.toUpperCase() });
  input.setGate(true);
  terminal.input("c");
  await write("\x1b[c");
  expect(sent.map(({ text }) => text)).toEqual(["C", "\x1b[?1;2c"]);
});

test("pasted text is not translated", () => {
  const { terminal, input, sent } = make({ translate: text => text.toUpperCase() });
  input.verbatim(() => terminal.input("pasted"));
  terminal.input("typed");
  expect(sent.map(({ text }) => text)).toEqual(["pasted", "TYPED"]);
});

test("after dispose nothing is sent", async () => {
  const { terminal, input, sent, write } = make();
  input.setGate(true);
  input.dispose();
  terminal.input("a");
  await write(QUERIES);
  expect(sent).toEqual([]);
});

test("an xterm without the internal event sends nothing while the gate is closed, and all while it is open", () => {
  let data: (text: string) => void = () => {};
  const sent: string[] = [];
  const nothing = { dispose: () => {} };
  const stranger = {
    onData: (listener: (text: string) => void) => {
      data = listener;
      return nothing;
    },
    onBinary: () => nothing,
  };
  const input = new EmulatorInput(stranger, { send: bytes => sent.push(new TextDecoder().decode(bytes)) });
  data("x");
  input.setGate(true);
  data("y");
  expect(sent).toEqual(["y"]);
});
