import { expect, test, vi } from "vitest";
import type { Pane } from "../../../src/frame/pane";
import { leavesOf } from "../../../src/frame/tree";
import { Workspace } from "../../../src/frame/workspace";
import { openFile } from "../../../src/views/files/open-file";

test.each([
  ["a/b.ipynb", "notebook"],
  ["B.IPYNB", "notebook"],
  ["ipynb", "editor"],
  ["a.ipynb.txt", "editor"],
])("%s opens in the %s", (path, kind) => {
  const open = vi.fn();
  openFile({ open, workspace: new Workspace() }, path);
  expect(open).toHaveBeenCalledExactlyOnceWith(kind, { path }, "right");
});

test("a line of a notebook is shown in the editor, which has lines", () => {
  const open = vi.fn();
  openFile({ open, workspace: new Workspace() }, "b.ipynb", { line: 3 });
  expect(open).toHaveBeenCalledExactlyOnceWith("editor", { path: "b.ipynb", line: "3" }, "right");
});

/** A page with a terminal, whose panes are replaceable if they are not in `changed`. */
function page(changed: string[] = []) {
  const workspace = new Workspace();
  workspace.open("terminal", { id: "main" });
  const load = () => {
    const leaves = workspace.tabs.peek().flatMap(({ tree }) => leavesOf(tree));
    workspace.panes.value = new Map(
      leaves.map(leaf => {
        const replaceable = leaf.kind === "editor" && !changed.includes(leaf.state.path ?? "");
        return [leaf.id, { kind: leaf.kind, replaceable } as Pane];
      }),
    );
  };
  const app = { workspace, open: workspace.open.bind(workspace) };
  return {
    workspace,
    open: (path: string, options = {}) => {
      load();
      openFile(app, path, options);
    },
    shown: () =>
      workspace.tabs.peek().map(({ tree }) => leavesOf(tree).map(({ state }) => state.path ?? state.id)),
    active: () => {
      const { tree, active } = workspace.current.peek() ?? { tree: undefined, active: 0 };
      return tree && leavesOf(tree).find(({ id }) => id === active)?.state.path;
    },
  };
}

test("a file takes the place of one that is not changed, and is the active pane", () => {
  const { open, shown, active } = page();
  open("a.txt");
  open("b.txt", { line: 7 });
  open("c.ipynb");
  expect(shown()).toEqual([["main", "c.ipynb"]]);
  expect(active()).toBe("c.ipynb");
  open("d.txt"); // a notebook is not replaced: its cells may run
  expect(shown()).toEqual([["main", "c.ipynb", "d.txt"]]);
});

test("a file that is changed keeps its place, and so does one if the user asks for that", () => {
  const { open, shown, active } = page(["a.txt"]);
  open("a.txt");
  open("b.txt");
  open("c.txt", { beside: true });
  expect(shown()).toEqual([["main", "a.txt", "b.txt", "c.txt"]]);
  open("d.txt"); // in the place of the active one
  expect(shown()).toEqual([["main", "a.txt", "b.txt", "d.txt"]]);
  expect(active()).toBe("d.txt");
});

test("a file that is shown already is shown once", () => {
  const { workspace, open, shown, active } = page();
  open("a.txt");
  workspace.open("terminal", { id: "other" });
  open("b.txt");
  open("a.txt");
  expect(shown()).toEqual([
    ["main", "a.txt"],
    ["other", "b.txt"],
  ]);
  expect(active()).toBe("a.txt");
});
