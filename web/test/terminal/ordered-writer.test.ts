import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import { OrderedWriter } from "../../src/terminal/ordered-writer";

const bytes = (text: string) => new TextEncoder().encode(text);

function line(terminal: Terminal, y: number): string {
  return terminal.buffer.active.getLine(y)?.translateToString(true) ?? "";
}

test("real xterm: a resize between two writes takes effect between them", async () => {
  const terminal = new Terminal({ cols: 10, rows: 5, allowProposedApi: true });
  const writer = new OrderedWriter(terminal, () => {});
  const widths: number[] = [];
  terminal.parser.registerCsiHandler({ final: "z" }, () => {
    widths.push(terminal.cols);
    return true;
  });
  await new Promise<void>(resolve => {
    writer.write(bytes("\x1b[z"), () => {});
    writer.resize(20, 5);
    writer.write(bytes("\x1b[z"), () => {});
    writer.resize(30, 5);
    writer.resize(40, 5);
    writer.write(bytes("\x1b[z"), resolve);
  });
  expect(widths).toEqual([10, 20, 40]);
});

test.each([
  ["a control sequence", "old\x1b[31"],
  ["an escape", "old\x1b"],
  ["a title", "old\x1b]0;tit"],
  ["a device control string", "old\x1bP$q"],
  ["a privacy message", "old\x1b^x"],
  ["a character", "old\xe2\x82"],
])(
  "real xterm: a reset within %s clears everything before it and keeps everything after it",
  async (_, old) => {
    const terminal = new Terminal({ cols: 10, rows: 5, allowProposedApi: true });
    const writer = new OrderedWriter(terminal, () => {});
    await new Promise<void>(resolve => {
      writer.write(
        Uint8Array.from(old, char => char.charCodeAt(0)),
        () => {},
      );
      writer.reset(12, 4);
      writer.write(bytes("new"), resolve);
    });
    expect([terminal.cols, terminal.rows, line(terminal, 0)]).toEqual([12, 4, "new"]);
  },
);

test("real xterm: a new screen keeps the old one in the scrollback, and has the modes of a new terminal", async () => {
  const terminal = new Terminal({ cols: 10, rows: 4, scrollback: 50, allowProposedApi: true });
  const writer = new OrderedWriter(terminal, () => {});
  const used =
    "\x1b[?1;6;45;1000;1004;1006;2004h\x1b[4h\x1b=\x1b[31m\x1b[2;3r\x1b[?25l\x1b[?1049halternate\x1b]0;tit";
  await new Promise<void>(resolve => {
    writer.write(bytes("one\r\ntwo\r\n"), () => {});
    writer.write(bytes(used), () => {});
    writer.startNewScreen(12, 5);
    writer.write(bytes("new"), resolve);
  });
  const { active } = terminal.buffer;
  expect([active.type, active.baseY, terminal.cols, terminal.rows]).toEqual(["normal", 2, 12, 5]);
  expect([0, 1, 2, 3].map(y => line(terminal, y))).toEqual(["one", "two", "new", ""]);
  expect(active.getLine(2)?.getCell(0)?.isFgDefault()).toBe(true);
  expect(terminal.modes).toEqual(new Terminal({ allowProposedApi: true }).modes);
  expect(terminal.options.scrollOnEraseInDisplay).toBe(false);
});

test("the gate changes after everything before it has been parsed", () => {
  const log: string[] = [];
  const parse: (() => void)[] = [];
  const emulator = {
    cols: 1,
    rows: 1,
    write: (_: Uint8Array, parsed?: () => void) => void parse.push(parsed ?? (() => {})),
    options: {},
    resize: () => {},
    reset: () => {},
  };
  const writer = new OrderedWriter(emulator, open => log.push(open ? "open" : "closed"));
  writer.write(bytes("a"), () => log.push("a"));
  writer.gate(false);
  writer.write(bytes("b"), () => log.push("b"));
  writer.gate(true);
  expect(log).toEqual([]);
  parse.shift()?.();
  expect(log).toEqual(["a", "closed"]);
  parse.shift()?.();
  expect(log).toEqual(["a", "closed", "b", "open"]);
});

test("a large write is parsed in pieces, and reported when the last one is", () => {
  const written: { size: number; parsed: (() => void) | undefined }[] = [];
  const emulator = {
    write: ({ length: size }: Uint8Array, parsed?: () => void) => written.push({ size, parsed }),
  };
  const writer = new OrderedWriter(emulator as never, () => {});
  let parsed = 0;
  writer.write(new Uint8Array(40_000), () => parsed++);
  expect(written.map(({ size, parsed: callback }) => [size, callback !== undefined])).toEqual([
    [16_384, false],
    [16_384, false],
    [7_232, true],
  ]);
  expect(parsed).toBe(0);
  written.at(-1)?.parsed?.();
  expect(parsed).toBe(1);
});
