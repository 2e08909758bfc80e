// Finds the target of a drop: the directory under the pointer for files, the terminal for text.

import type { AppContext, Pane } from "../../frame/pane";

type Context = Pick<AppContext, "workspace" | "directory">;

export interface DropPlace {
  /** The element that receives the drop. */
  readonly element: Element;
  readonly pane?: Pane | undefined;
  /** Returns the directory where dropped files are stored, relative to the workspace or absolute. Throws HawseError. */
  readonly directory: () => Promise<string>;
}

/** Whether the browser itself may insert dropped text into `target`. xterm.js's input field would type the text. */
export function takesText(target: Element): boolean {
  return target.closest("input, textarea:not(.xterm-helper-textarea), [contenteditable=true]") !== null;
}

/** Returns the target of a drop. Outside panes and the tree, it's the active terminal's directory. */
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
