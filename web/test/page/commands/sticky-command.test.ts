import { expect, test } from "vitest";
import type { Command } from "../../../src/page/commands/commands";
import { commandAbove } from "../../../src/page/commands/sticky-command";

function command(line: number, end?: number): Command {
  const marker = (at: number) => ({ line: at, isDisposed: at < 0 });
  return {
    prompt: marker(line),
    output: marker(line + 1),
    line: `at ${line}`,
    end: end && marker(end),
  } as never;
}

test("the command is the one whose output the first line belongs to, while its own line is above", () => {
  const list = [command(0, 10), command(10, 12), command(20, 30)];
  const at = (top: number) => commandAbove({ list, running: undefined }, top)?.prompt.line;
  expect([0, 1, 9, 10, 11, 12, 15, 20, 21, 29, 30].map(at)).toEqual([
    undefined,
    0,
    0,
    undefined,
    10,
    undefined,
    undefined,
    undefined,
    20,
    20,
    undefined,
  ]);
});

test("a command that runs counts also after its line has left the scrollback", () => {
  const running = command(5);
  expect(commandAbove({ list: [command(0, 5), running], running }, 3)?.prompt.line).toBe(0);
  expect(commandAbove({ list: [command(0, 5), running], running }, 5)).toBeUndefined();
  expect(commandAbove({ list: [running], running }, 6)).toBe(running);
  const gone = command(-1);
  expect(commandAbove({ list: [], running: gone }, 0)).toBe(gone);
});
