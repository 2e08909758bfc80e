import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import { Commands, stateOf, unescapeLine } from "../../../src/page/commands/commands";

const PROMPT = "\x1b]133;A\x07$ \x1b]133;B\x07";

async function make() {
  const terminal = new Terminal({ cols: 20, rows: 6, scrollback: 50, allowProposedApi: true });
  Object.assign(terminal, { registerDecoration: () => undefined });
  const commands = new Commands(terminal as never, () => {});
  const write = (text: string) => new Promise<void>(done => terminal.write(text, done));
  return { terminal, commands, write };
}

function run(line: string, output: string, code: number): string {
  return `${PROMPT}${line}\r\n\x1b]633;E;${line}\x07\x1b]133;C\x07${output}\x1b]133;D;${code}\x07`;
}

test("a command has its line, its output and its exit code", async () => {
  const { commands, write } = await make();
  await write(run("seq 2", "1\r\n2\r\n", 0) + run("false", "", 1) + PROMPT);
  const [first, second] = commands.list;
  if (!first || !second) throw new Error("two commands were expected");
  expect([first.line, commands.outputOf(first), stateOf(first)]).toEqual(["seq 2", "1\n2", "done"]);
  expect([second.line, commands.outputOf(second), stateOf(second)]).toEqual(["false", "", "failed"]);
  expect(commands.last?.code).toBe(1);
});

test("output that was wrapped is one line again", async () => {
  const { commands, write } = await make();
  await write(run("long", `${"x".repeat(45)}\r\n`, 0));
  expect(commands.last && commands.outputOf(commands.last)).toBe("x".repeat(45));
});

test("a command without an end runs, and one that has left the scrollback is forgotten", async () => {
  const { commands, write } = await make();
  await write(`${PROMPT}top\r\n\x1b]133;C\x07`);
  expect(commands.last && stateOf(commands.last)).toBe("running");
  await write("line\r\n".repeat(100));
  expect(commands.list).toEqual([]);
});

test("a command that ends with its shell has the exit code of the shell, or none", async () => {
  const { commands, write } = await make();
  const begun = (line: string) => `${PROMPT}${line}\r\n\x1b]633;E;${line}\x07\x1b]133;C\x07`;
  await write(begun("exit 3"));
  commands.end(3);
  await write(begun("kill -9 $$"));
  await write(PROMPT); // of a new shell
  expect(commands.list.map(stateOf)).toEqual(["failed", "done"]);
  expect(commands.running).toBeUndefined();
});

test("jumps go to the prompt before and after the first visible line, and then to the end", async () => {
  const { terminal, commands, write } = await make();
  await write(run("one", "a\r\n".repeat(8), 0) + run("two", "b\r\n".repeat(8), 0) + PROMPT);
  commands.jump(-1);
  const second = terminal.buffer.active.viewportY;
  commands.jump(-1);
  expect([terminal.buffer.active.viewportY, second]).toEqual([0, 9]);
  commands.jump(1);
  expect(terminal.buffer.active.viewportY).toBe(9);
  commands.jump(1);
  expect(terminal.buffer.active.viewportY).toBe(terminal.buffer.active.baseY);
});

test("the escapes of the shell integration are undone", () => {
  expect(unescapeLine("a\\x3bb \\\\ \\x0a")).toBe("a;b \\ \n");
});

test("the command that runs is known also when its line has left the scrollback, and gets its end", async () => {
  const { commands, write } = await make();
  await write(`${PROMPT}\x1b]633;E;yes\x07\x1b]133;C\x07${"y\r\n".repeat(100)}`);
  const { running } = commands;
  expect([running?.line, commands.list]).toEqual(["yes", []]);
  await write("\x1b]133;D;130\x07");
  expect([commands.running, running?.code]).toEqual([undefined, 130]);
});

test("the shell is at its prompt until it runs a command, and with the next prompt again", async () => {
  const { commands, write } = await make();
  expect(commands.atPrompt).toBe(false); // a shell that reports nothing
  await write(PROMPT);
  expect(commands.atPrompt).toBe(true);
  await write("\x1b]133;C\x07");
  expect(commands.atPrompt).toBe(false);
  await write(`\x1b]133;D;0\x07${PROMPT}`);
  expect(commands.atPrompt).toBe(true);
});
