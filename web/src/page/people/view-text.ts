// A viewer's view as text for the presence of a terminal: the active pane in the notation of the page's address, with
// how far a terminal is scrolled back. It comes from another viewer's page, so nothing in it is trusted.

import type { PaneState } from "../../frame/pane";
import { treeFromText, treeToText } from "../../frame/tree-text";

/** Maximum number of characters that the server accepts. */
const MAX_LENGTH = 200;
const SCROLL = "scroll";

export interface View {
  readonly kind: string;
  readonly state: PaneState;
  /** Rows. */
  readonly scroll: number;
}

/** Returns an empty text if it would be too long: the others then see only the terminal. */
export function viewToText({ kind, state, scroll }: View): string {
  const shown = scroll > 0 ? { ...state, [SCROLL]: String(scroll) } : state;
  const text = treeToText({ type: "leaf", id: 0, kind, state: shown });
  return text.length <= MAX_LENGTH ? text : "";
}

/** Returns undefined if the text is not a view. */
export function viewFromText(text: string): View | undefined {
  const tree = text.length <= MAX_LENGTH ? treeFromText(text, () => 0) : undefined;
  if (tree?.type !== "leaf") return undefined;
  const { [SCROLL]: scroll = "0", ...state } = tree.state;
  return { kind: tree.kind, state, scroll: /^\d{1,8}$/.test(scroll) ? Number(scroll) : 0 };
}

/** The part of an emulator that says how far it is scrolled back. */
export interface Scrolled {
  readonly buffer: { readonly active: { readonly viewportY: number; readonly baseY: number } };
}

/** Returns the number of rows between the end and the last row that is shown. */
export function scrolledBack(terminal: Scrolled | undefined): number {
  if (!terminal) return 0;
  const { viewportY, baseY } = terminal.buffer.active;
  return Math.max(0, baseY - viewportY);
}
