// Estimates a terminal's size before its emulator has measured the font.

import type { Size } from "../../terminal/size-proposer";

/** Cell width and line height of JetBrains Mono, as multiples of the font size. */
const CELL = { width: 0.6, height: 1.2 } as const;
/** The space around the cells in pixels: padding, the gutter and the scrollbar. */
const FRAME = { width: 32, height: 18 } as const;

/** `stage` is the element that the terminal fills; undefined if it isn't shown. */
export function estimatedSize(
  { clientWidth, clientHeight }: Pick<HTMLElement, "clientWidth" | "clientHeight">,
  fontSize: number,
): Size | undefined {
  const cols = Math.floor((clientWidth - FRAME.width) / (fontSize * CELL.width));
  const rows = Math.floor((clientHeight - FRAME.height) / (fontSize * CELL.height));
  return cols >= 2 && rows >= 1 ? { cols: Math.min(cols, 1000), rows: Math.min(rows, 1000) } : undefined;
}
