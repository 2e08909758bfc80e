// Decides which pane shows a file.

import { batch } from "@preact/signals";
import type { AppContext, PaneState } from "../../frame/pane";
import { leavesOf, updateLeaf } from "../../frame/tree";

type Context = Pick<AppContext, "open" | "workspace">;

/**
 * Shows a file: notebooks in a notebook pane, all other files in the editor. The file replaces one in the same tab that
 * the user hasn't changed, so that opening several files one after another doesn't fill up the tab.
 *
 * @param options.line - The line to show, counted from 1.
 * @param options.beside - Whether to show the file in a new pane.
 */
export function openFile(
  app: Context,
  path: string,
  { line, beside = false }: { line?: number; beside?: boolean } = {},
): void {
  // A notebook can't be opened at a line, so the editor opens its file in that case.
  const kind = line === undefined && /\.ipynb$/i.test(path) ? "notebook" : "editor";
  const state: PaneState = line === undefined ? { path } : { path, line: String(line) };
  batch(() => {
    if (!beside) replaceUnchanged(app, kind, state);
    app.open(kind, state, "right");
  });
}

function replaceUnchanged({ workspace }: Context, kind: string, state: PaneState): void {
  const here = workspace.current.peek();
  const leaves = workspace.tabs.peek().flatMap(({ tree }) => leavesOf(tree));
  if (!here || leaves.some(leaf => leaf.kind === kind && leaf.state.path === state.path)) return;
  const panes = workspace.panes.peek();
  const unchanged = leavesOf(here.tree).filter(({ id }) => panes.get(id)?.replaceable);
  const leaf = unchanged.find(({ id }) => id === here.active) ?? unchanged.at(-1);
  if (leaf) {
    const added = { id: workspace.nextId(), kind, state };
    workspace.reshape(here.key, tree => updateLeaf(tree, leaf.id, added));
  }
}
