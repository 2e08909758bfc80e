import { expect, test } from "vitest";
import {
  asks,
  freeId,
  labelOf,
  labelsOf,
  lossOf,
  questionsOf,
  runningIds,
} from "../../../src/page/shell/terminal-list";
import type { CommandInfo, TerminalInfo } from "../../../src/wire/methods";

const terminal = (id: string, more: Partial<TerminalInfo> = {}) => ({
  id,
  cwd: "/workspace",
  state: "running" as const,
  started: 1,
  ...more,
});
const command = (more: Partial<CommandInfo>): CommandInfo => ({ number: 1, started: 0, start: 0, ...more });

test("a title that changes the direction of text is shown as such", () => {
  expect(labelsOf([{ id: "main", title: "a\u202eb" }]).get("main")).toBe("a\ufffdb");
});

test("the terminals that run have tabs, the oldest first", () => {
  const terminals = [
    terminal("new", { started: 3 }),
    terminal("old"),
    terminal("gone", { state: "exited" }),
    terminal("also old"),
  ];
  expect(runningIds(terminals)).toEqual(["also old", "old", "new"]);
});

test("a tab is named by its title, or by its id where the title is not unique", () => {
  const labels = labelsOf([
    terminal("a", { title: "vim" }),
    terminal("b", { title: "bash" }),
    terminal("c", { title: "bash" }),
    terminal("d"),
  ]);
  expect([...labels.values()]).toEqual(["vim", "b", "c", "d"]);
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

test.each(["main", " Main", "ma\u200bin", "ｍain", "ma\u202ein", "vim notes", "VIM  notes"])(
  "the title %j looks like another terminal, so the id is shown",
  title => {
    expect(labelOf("b", title, [{ id: "main", title: "vim notes" }])).toBe("b");
  },
);

test("a title that is the own id, or of no other terminal, is shown", () => {
  const terminals = [{ id: "main", title: "vim notes" }, { id: "b" }];
  expect(labelOf("main", "main", terminals)).toBe("main");
  expect(labelOf("b", "main.py", terminals)).toBe("main.py");
  expect(labelOf("b", "\u200b ", terminals)).toBe("b"); // nothing would be seen
});

test("a program asks for a line or a password, while a pager only waits for keys", () => {
  const asking = (["no", "line", "secret", "key", "unknown"] as const).filter(kind => asks({ kind }));
  expect(asking).toEqual(["line", "secret"]);
  expect(asks(undefined)).toBe(false);
});

test("the questions of programs are sorted by how long they have been waiting", () => {
  const asking = (id: string, since: number) => ({
    id,
    instance: id,
    waiting: { kind: "line" as const, since },
  });
  const pager = { id: "pager", instance: "pager", waiting: { kind: "key" as const, since: 0 } };
  const found = questionsOf([asking("late", 3), pager, asking("early", 1), asking("middle", 2)]);
  expect(found.map(({ id }) => id)).toEqual(["early", "middle", "late"]);
});
