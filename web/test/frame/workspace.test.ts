import { expect, test } from "vitest";
import { leavesOf } from "../../src/frame/tree";
import { TERMINAL, terminalOf, Workspace } from "../../src/frame/workspace";

function make(): Workspace {
  const workspace = new Workspace();
  workspace.open(TERMINAL, { id: "main" });
  return workspace;
}
const terminals = ({ tabs }: Workspace) =>
  tabs.value.map(({ tree }) => leavesOf(tree).map(({ state }) => state.id ?? ""));
const shown = ({ current }: Workspace) => leavesOf(current.value?.tree as never).map(({ state }) => state.id);

test("a pane opens in a new tab or beside the active one, and is shown once", () => {
  const workspace = make();
  workspace.open(TERMINAL, { id: "b" }, "right");
  workspace.open(TERMINAL, { id: "c" });
  expect(terminals(workspace)).toEqual([["main", "b"], ["c"]]);
  expect(shown(workspace)).toEqual(["c"]);
  workspace.open(TERMINAL, { id: "b" }, "below");
  expect(terminals(workspace)).toEqual([["main", "b"], ["c"]]);
  expect(shown(workspace)).toEqual(["main", "b"]);
});

test("a tab takes a limited number of panes", () => {
  const workspace = make();
  const opened = Array.from({ length: 20 }, (_, i) => workspace.open("log", { id: `${i}` }, "right"));
  expect(opened.filter(Boolean)).toHaveLength(11);
});

test("terminals of others get tabs, and ended terminals lose theirs unless the user looks at them", () => {
  const workspace = make();
  workspace.syncTerminals(["main", "other"]);
  expect(terminals(workspace)).toEqual([["main"], ["other"]]);
  workspace.syncTerminals([]);
  expect(terminals(workspace)).toEqual([["main"]]);
});

test("a terminal in a split keeps its pane when it has ended", () => {
  const workspace = make();
  workspace.open(TERMINAL, { id: "b" }, "right");
  workspace.open(TERMINAL, { id: "c" });
  workspace.syncTerminals(["c"]);
  expect(terminals(workspace)).toEqual([["main", "b"], ["c"]]);
});

test("after a closed tab comes the next one, then the one before", () => {
  const workspace = make();
  workspace.syncTerminals(["main", "b", "c"]);
  const close = (id: string) => workspace.remove(workspace.find(TERMINAL, { id })?.id ?? 0);
  workspace.open(TERMINAL, { id: "b" });
  close("b");
  expect(shown(workspace)).toEqual(["c"]);
  close("c");
  expect(shown(workspace)).toEqual(["main"]);
});

test("tabs are walked around the ends, and panes by their sides", () => {
  const workspace = make();
  workspace.syncTerminals(["main", "b"]);
  workspace.step(-1);
  expect(shown(workspace)).toEqual(["b"]);
  workspace.step(1);
  workspace.open("log", { id: "log" }, "right");
  const right = workspace.current.value?.active;
  workspace.go("left");
  expect(workspace.current.value?.active).not.toBe(right);
  workspace.go("left");
  workspace.go("right");
  expect(workspace.current.value?.active).toBe(right);
});

test("tabs are written and restored in order, and a restored one is not added twice", () => {
  const workspace = make();
  workspace.open("log", { id: "x" }, "right");
  workspace.open(TERMINAL, { id: "b" });
  workspace.open("editor", { path: "a" });
  expect(workspace.texts()).toEqual([
    "row(50:terminal~id~main,50:log~id~x)",
    "terminal~id~b",
    "editor~path~a",
  ]);
  const other = new Workspace();
  other.addAll([...workspace.texts(), "row("]);
  other.restore("terminal~id~b");
  expect(other.texts()).toEqual(workspace.texts());
  expect(shown(other)).toEqual(["b"]);
});

test("a tab is shown from its text once, and never from a malformed text", () => {
  const other = new Workspace();
  const text = "row(50:terminal~id~main,50:log~id~x)";
  expect(other.restore(text)).toBe(true);
  expect(other.restore(text)).toBe(true);
  expect(other.restore("row(")).toBe(false);
  expect(terminals(other)).toEqual([["main", "x"]]);
});

test("a new state of a pane is in its tab", () => {
  const workspace = make();
  workspace.open("editor", { path: "a" });
  const id = workspace.current.value?.active ?? 0;
  workspace.setState(id, { path: "b" });
  expect(workspace.find("editor", { path: "b" })?.id).toBe(id);
  expect(terminalOf(workspace.tabs.value[0]?.tree as never)).toBe("main");
});
