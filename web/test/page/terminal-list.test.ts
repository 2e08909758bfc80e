import { expect, test } from "vitest";
import { freeId, lossOf, neighbour, tabsOf } from "../../src/page/terminal-list";
import type { CommandInfo, TerminalInfo } from "../../src/wire/methods";

const terminal = (id: string, more: Partial<TerminalInfo> = {}) => ({
  id,
  cwd: "/workspace",
  state: "running" as const,
  started: 1,
  ...more,
});
const command = (more: Partial<CommandInfo>): CommandInfo => ({ number: 1, started: 0, start: 0, ...more });

test("running terminals and the one of the page have tabs, the oldest first", () => {
  const tabs = tabsOf(
    [
      terminal("new", { started: 3 }),
      terminal("old"),
      terminal("gone", { state: "exited" }),
      terminal("here", { state: "exited", started: 2 }),
    ],
    "here",
  );
  expect(tabs.map(({ id, running, current }) => [id, running, current])).toEqual([
    ["old", true, false],
    ["here", false, true],
    ["new", true, false],
  ]);
});

test("a tab is named by its title, or by its id where the title is not unique", () => {
  const tabs = tabsOf(
    [
      terminal("a", { title: "vim" }),
      terminal("b", { title: "bash" }),
      terminal("c", { title: "bash" }),
      terminal("d"),
    ],
    "a",
  );
  expect(tabs.map(({ label }) => label)).toEqual(["vim", "b", "c", "d"]);
  expect(tabs[0]?.details).toBe("a in /workspace");
});

test("after a closed tab comes the next one, then the one before, then none", () => {
  const tabs = tabsOf([terminal("a"), terminal("b"), terminal("c")], "a");
  expect(neighbour(tabs, "b")).toBe("c");
  expect(neighbour(tabs, "c")).toBe("b");
  expect(neighbour(tabs.slice(0, 1), "a")).toBeUndefined();
});

test("a new terminal gets the first free number", () => {
  expect(freeId(new Set(["main"]))).toBe("shell-2");
  expect(freeId(new Set(["shell-2", "shell-4"]))).toBe("shell-3");
});

test("closing loses a running command, and possibly one of a shell that does not report them", () => {
  const more = false;
  expect(lossOf({ commands: [], more, reports_commands: true })).toBeUndefined();
  expect(lossOf({ commands: [command({ end: 5 })], more, reports_commands: true })).toBeUndefined();
  expect(lossOf({ commands: [command({ line: "make" })], more, reports_commands: true })).toBe(
    "This command is running in it: make",
  );
  expect(lossOf({ commands: [command({})], more, reports_commands: true })).toBe(
    "A command is running in it.",
  );
  expect(lossOf({ commands: [], more, reports_commands: false })).toBe("A program may be running in it.");
});
