import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import { commandLink, findRow, findStart, readCommandLink } from "../../../src/page/commands/command-link";
import type { Command } from "../../../src/page/commands/commands";

const LINKED = { start: 120, instance: "i1" };

test("a link names the terminal and the command, and is read again", () => {
  const link = commandLink("http://x/?sandbox=b&layout=row(50:a,50:b)", "t", LINKED);
  expect(link).toBe("http://x/?sandbox=b&terminal=t#command=120&instance=i1");
  expect(readCommandLink(link, "t")).toEqual(LINKED);
  expect(commandLink("http://x/", "t", LINKED, "secret")).toContain("&token=secret");
});

test("an address of another terminal, or without an offset or an instance, is not a link to a command", () => {
  const read = (href: string) => readCommandLink(href, "t");
  expect(read("http://x/?terminal=other#command=1&instance=i")).toBeUndefined();
  expect(read("http://x/?terminal=t#command=1")).toBeUndefined();
  expect(read("http://x/?terminal=t#command=-1&instance=i")).toBeUndefined();
  expect(read("http://x/?terminal=t#command=&instance=i")).toBeUndefined();
});

async function buffer(text: string) {
  const terminal = new Terminal({ cols: 20, rows: 8, scrollback: 50, allowProposedApi: true });
  await new Promise<void>(done => terminal.write(text.replaceAll("\n", "\r\n"), done));
  return terminal.buffer.normal;
}

test("the row of a command is found from the end, above the rows of later commands", async () => {
  const rows = await buffer("$ ls\na\n$ ls\na b\n$ cat ls\nls\n$ ls\n");
  expect(findRow(rows, ["ls", "cat ls", "ls"])).toBe(2);
  expect(findRow(rows, ["ls", "ls", "cat ls", "ls"])).toBe(0);
  expect(findRow(rows, ["ls"])).toBe(6);
  expect(findRow(rows, ["pwd", "ls"])).toBeUndefined();
  expect(findRow(rows, [null, "ls"])).toBeUndefined();
});

test("a command may be wrapped, have several lines, or be the end of a longer word", async () => {
  const rows = await buffer(`$ echo ${"x".repeat(30)}\nskills\n$ for i in 1\n> do :; done\n`);
  expect(findRow(rows, [`echo ${"x".repeat(30)}`, "for i in 1\ndo :; done"])).toBe(0);
  expect(findRow(rows, ["for i in 1\ndo :; done"])).toBe(3);
  expect(findRow(rows, ["ls"])).toBeUndefined();
});

test("a later command that was erased from the screen does not hide an earlier one", async () => {
  expect(findRow(await buffer("$ one\n$ three\n"), ["one", "two", "three"])).toBe(0);
});

function source(kept: { line: string | null; start: number }[], list: { line: string }[]) {
  const asked: unknown[] = [];
  const call = async (...request: unknown[]) => {
    asked.push(request);
    return { commands: kept, more: false, reports_commands: true };
  };
  const channel = { address: { sandbox: "b", id: "t" }, info: { instance: "i1" } };
  const found = findStart({ client: { call }, channel, commands: { list } } as never, list[0] as Command);
  return { asked, found };
}

test("the offset of a command is found at the same distance from the end, if its line is the same", async () => {
  const ls = { line: "ls" };
  const kept = [1, 2, 3].map(n => ({ line: "ls", start: n * 10 }));
  const { asked, found } = source(kept, [ls, { line: "ls" }]);
  expect(await found).toEqual({ start: 20, instance: "i1" });
  expect(asked).toEqual([["terminal.history", { id: "t", instance: "i1", limit: 1_000 }, { sandbox: "b" }]]);
  // The page has not seen the end of a command yet that the server already has.
  expect(await source([...kept, { line: "pwd", start: 40 }], [ls]).found).toMatchObject({ start: 30 });
  expect(await source([{ line: "pwd", start: 40 }], [ls]).found).toBeUndefined();
});
