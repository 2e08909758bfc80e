// Positions an element over a terminal's cells, with its text in the same columns.

import type { Terminal } from "@xterm/xterm";

/**
 * Positions `layer`, a child of the screen, at a cell. Its width is `columns`, if given, and at most the rest of the
 * row.
 */
export function placeLayer(layer: HTMLElement, terminal: Terminal, column: number, columns?: number): void {
  const screen = layer.parentElement;
  if (!screen) return;
  const { cols, rows, options, buffer } = terminal;
  const [width, height] = [screen.clientWidth / cols, screen.clientHeight / rows];
  const font = `${options.fontSize}px ${options.fontFamily}`;
  Object.assign(layer.style, {
    left: `${column * width}px`,
    top: `${buffer.active.cursorY * height}px`,
    width: columns === undefined ? "" : `${columns * width}px`,
    maxWidth: `${Math.max(1, cols - column) * width}px`,
    font,
    lineHeight: `${height}px`,
    // The renderer rounds the cell width to device pixels.
    letterSpacing: `${width - widthOf(font)}px`,
  });
}

const SAMPLE = "0".repeat(20);
const widths = new Map<string, number>();
let context: CanvasRenderingContext2D | null | undefined;

function widthOf(font: string): number {
  let width = widths.get(font);
  if (width !== undefined) return width;
  context ??= document.createElement("canvas").getContext("2d");
  if (!context) return 0;
  context.font = font;
  width = context.measureText(SAMPLE).width / SAMPLE.length;
  if (document.fonts.check(font)) widths.set(font, width);
  return width;
}
