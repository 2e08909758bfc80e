import { expect, test } from "vitest";
import { faces, lastUsed, PREVIEW_ROWS, preview } from "../../src/home/card-contents";
import type { Participant, TerminalInfo, TerminalViewer } from "../../src/wire/methods";

function terminal(id: string, more: Partial<TerminalInfo> = {}): TerminalInfo {
  const info = { id, instance: id, state: "running", started: 1, offset: 10, cols: 80, rows: 24 };
  return { ...info, ...more } as TerminalInfo;
}

function viewer(at: string, name: string, more: Partial<Participant> = {}): TerminalViewer {
  return {
    terminal: at,
    viewer: { id: name, name, color: "#000", kind: "person", focus: false, ...more },
  } as TerminalViewer;
}

test("the terminal that was used last is shown", () => {
  const main = terminal("main");
  const build = terminal("build", { started: 2 });
  const before = new Map([
    ["main", 10],
    ["build", 10],
  ]);
  expect(lastUsed([], [], before)).toBeUndefined();
  expect(lastUsed([build, main], [], before)?.id).toBe("main");
  expect(lastUsed([main, build], [viewer("build", "Ada", { focus: true })], before)?.id).toBe("build");
  const printing = terminal("main", { offset: 11 });
  expect(lastUsed([printing, build], [viewer("build", "Ada", { focus: true })], before)?.id).toBe("main");
  expect(lastUsed([terminal("a"), build], [], before)?.id).toBe("build");
});

test("an ended terminal is shown only if none runs", () => {
  const ended = terminal("main", { state: "exited" });
  expect(lastUsed([ended, terminal("b")], [], new Map())?.id).toBe("b");
  expect(lastUsed([ended], [], new Map())?.id).toBe("main");
});

test("a preview is the end of the screen without the empty lines below it", () => {
  expect(preview("one\n\ntwo\n \n\n")).toBe("one\n\ntwo");
  expect(preview("\n\n")).toBe("");
  expect(preview("x".repeat(5_000)).length).toBeLessThan(200);
  expect(preview("line\n".repeat(100)).split("\n")).toHaveLength(PREVIEW_ROWS);
});

test("each person is shown once, with the number of hidden ones", () => {
  const six = ["a", "b", "c", "d", "e", "f"].map(name => viewer("main", name));
  expect(faces([...six, viewer("build", "a")], 7)).toMatchObject({ shown: { length: 5 }, more: 1 });
  expect(faces([viewer("main", "a")], 30)).toMatchObject({ shown: { length: 1 }, more: 29 });
  expect(faces([viewer("main", "a"), viewer("main", "a", { kind: "agent" })], 2).shown).toHaveLength(2);
});
