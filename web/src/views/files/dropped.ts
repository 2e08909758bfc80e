// The target of a drop: the directory under the pointer for files, the terminal for text.

import type { AppContext, Pane } from "../../frame/pane";

type Context = Pick<AppContext, "workspace" | "directory">;

export interface DropPlace {
  /** The element that the drop is for. */
  readonly element: Element;
  readonly pane?: Pane | undefined;
  /** Returns the directory for files, relative to the workspace unless it is absolute. Throws HawseError. */
  readonly directory: () => Promise<string>;
}

/** Whether the browser may give dropped text to `target` by itself. xterm.js's field would type it. */
export function takesText(target: Element): boolean {
  return target.closest("input, textarea:not(.xterm-helper-textarea), [contenteditable=true]") !== null;
}

/** Returns where a drop on `target` goes. Elsewhere than on a pane or on the tree, it is the directory of the active terminal. */
export function dropPlace({ workspace, directory }: Context, target: Element, whole: Element): DropPlace {
  const folder = target.closest<HTMLElement>("[data-folder]");
  if (folder) return { element: folder, directory: async () => folder.dataset.folder ?? "" };
  const element = target.closest<HTMLElement>("[data-pane]");
  const pane = element ? workspace.panes.peek().get(Number(element.dataset.pane)) : undefined;
  const otherwise = async () => directory.peek();
  return {
    element: element ?? whole,
    pane,
    directory: () => pane?.directory?.() ?? otherwise(),
  };
}
