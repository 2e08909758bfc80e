// Holding a finger on the terminal selects the word under it; moving the finger then extends the selection. Once the
// finger is lifted, the selection can be changed with handles (touch-selection.ts).

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { between, type CellRange, cellAt, select } from "./touch-selection";

/** How long a finger must be held down to select, in milliseconds, as on most phones. */
const HOLD = 500;
/** How far a finger may move while being held, in pixels. */
const SLACK = 8;
const SEPARATORS = new Set(" \t\"'`()[]{}<>|,;");

export class LongPress implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #terminal: Terminal;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #start: { x: number; y: number } | undefined;
  /** The initial selection under the finger; empty if there is no word there. */
  #selected: CellRange | undefined;

  /** `lifted` is called with the point on the page where the finger was lifted after selecting. */
  constructor(host: HTMLElement, terminal: Terminal, lifted: (place: { x: number; y: number }) => void) {
    this.#terminal = terminal;
    this.#disposables.listen<TouchEvent>(host, "touchstart", ({ touches }) => {
      this.#stop();
      const [finger] = touches;
      if (!finger || touches.length > 1) return;
      this.#start = { x: finger.clientX, y: finger.clientY };
      this.#timer = setTimeout(() => this.#select(), HOLD);
    });
    const moved = (event: TouchEvent) => {
      const [finger] = event.touches;
      const { x = 0, y = 0 } = this.#start ?? {};
      if (this.#selected) {
        event.preventDefault();
        event.stopPropagation(); // so that the movement extends the selection instead of scrolling
        if (finger) this.#extend(finger.clientX, finger.clientY, this.#selected);
      } else if (finger && Math.hypot(finger.clientX - x, finger.clientY - y) > SLACK) this.#stop();
    };
    this.#disposables.listen<TouchEvent>(host, "touchmove", moved, { capture: true, passive: false });
    this.#disposables.listen<TouchEvent>(host, "touchend", event => {
      const place = this.#selected ? this.#start : undefined;
      this.#stop();
      if (!place) return;
      event.preventDefault(); // suppresses the click, which would open the keyboard and clear the selection
      lifted(place);
    });
    this.#disposables.listen(host, "touchcancel", () => this.#stop());
    this.#disposables.defer(() => this.#stop());
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#start = undefined;
    this.#selected = undefined;
  }

  /** Selects from the word to the cell under the finger. */
  #extend(x: number, y: number, { start, end }: CellRange): void {
    const cell = cellAt(this.#terminal, x, y);
    if (cell === undefined || start === end) return;
    select(this.#terminal, cell < start ? between(end - 1, cell) : between(start, Math.max(cell, end - 1)));
  }

  #select(): void {
    const cell = this.#start && cellAt(this.#terminal, this.#start.x, this.#start.y);
    if (cell === undefined) return;
    const { cols, buffer } = this.#terminal;
    const [row, column] = [Math.floor(cell / cols), cell % cols];
    const line = buffer.active.getLine(row);
    const cells = Array.from({ length: cols }, (_, x) => line?.getCell(x)?.getChars() ?? "");
    navigator.vibrate?.(10);
    const word = wordAt(cells, column) ?? { start: column, length: 0 };
    const start = row * cols + word.start;
    this.#selected = { start, end: start + word.length };
    if (word.length > 0) select(this.#terminal, this.#selected);
    else this.#terminal.clearSelection();
  }
}

/** Returns the columns of the word at `column`. The second cell of a wide character is empty. */
export function wordAt(
  cells: readonly string[],
  column: number,
): { start: number; length: number } | undefined {
  const wide = (x: number) => cells[x] === "" && x > 0 && (cells[x - 1] ?? "") > "\u1100";
  const inWord = (x: number) =>
    wide(x) || (cells[x] !== undefined && cells[x] !== "" && !SEPARATORS.has(cells[x]));
  if (!inWord(column)) return undefined;
  let [start, end] = [column, column + 1];
  while (inWord(start - 1)) start--;
  while (inWord(end)) end++;
  return { start, length: end - start };
}
