// A viewer's view as text, for a terminal's presence: the active pane in the notation used in the page address, along
// with the scroll position if it's a terminal. The text comes from another viewer's page, so it isn't trusted.

import type { PaneState } from "../../frame/pane";
import { treeFromText, treeToText } from "../../frame/tree-text";

/** Maximum number of characters accepted by the server. */
const MAX_LENGTH = 200;
const SCROLL = "scroll";

export interface View {
  readonly kind: string;
  readonly state: PaneState;
  /** Rows. */
  readonly scroll: number;
}

/** Returns the view as text; empty if it would be too long, so that other viewers see only the terminal. */
export function viewToText({ kind, state, scroll }: View): string {
  const shown = scroll > 0 ? { ...state, [SCROLL]: String(scroll) } : state;
  const text = treeToText({ type: "leaf", id: 0, kind, state: shown });
  return text.length <= MAX_LENGTH ? text : "";
}

/** Parses a view; returns undefined if the text isn't a view. */
export function viewFromText(text: string): View | undefined {
  const tree = text.length <= MAX_LENGTH ? treeFromText(text, () => 0) : undefined;
  if (tree?.type !== "leaf") return undefined;
  const { [SCROLL]: scroll = "0", ...state } = tree.state;
  return { kind: tree.kind, state, scroll: /^\d{1,8}$/.test(scroll) ? Number(scroll) : 0 };
}

/** The part of an emulator that reports how far back it is scrolled. */
export interface Scrolled {
  readonly buffer: { readonly active: { readonly viewportY: number; readonly baseY: number } };
}

/** Returns the number of rows between the last visible row and the end of the buffer. */
export function scrolledBack(terminal: Scrolled | undefined): number {
  if (!terminal) return 0;
  const { viewportY, baseY } = terminal.buffer.active;
  return Math.max(0, baseY - viewportY);
}
