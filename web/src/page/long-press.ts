// A finger that is held on the terminal selects the word below it; when it is lifted, a menu offers what can be done with it.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";

/** Milliseconds, as on most phones. */
const HOLD = 500;
/** Pixels that a held finger may move. */
const SLACK = 8;
const SEPARATORS = new Set(" \t\"'`()[]{}<>|,;");

export class LongPress implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #terminal: Terminal;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #start: { x: number; y: number } | undefined;
  #selected = false;

  /** `lifted`: the finger was lifted at this point of the page, after it has selected. */
  constructor(host: HTMLElement, terminal: Terminal, lifted: (place: { x: number; y: number }) => void) {
    this.#terminal = terminal;
    this.#disposables.listen<TouchEvent>(host, "touchstart", ({ touches }) => {
      this.#stop();
      const [finger] = touches;
      if (!finger || touches.length > 1) return;
      this.#start = { x: finger.clientX, y: finger.clientY };
      this.#timer = setTimeout(() => this.#select(), HOLD);
    });
    this.#disposables.listen<TouchEvent>(host, "touchmove", ({ touches: [finger] }) => {
      const { x = 0, y = 0 } = this.#start ?? {};
      if (finger && Math.hypot(finger.clientX - x, finger.clientY - y) > SLACK) this.#stop();
    });
    this.#disposables.listen<TouchEvent>(host, "touchend", event => {
      const place = this.#selected ? this.#start : undefined;
      this.#stop();
      if (!place) return;
      event.preventDefault(); // a click would open the keyboard and clear the selection
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
    this.#selected = false;
  }

  #select(): void {
    const box = this.#terminal.element?.querySelector(".xterm-screen")?.getBoundingClientRect();
    if (!box || !this.#start) return;
    const { cols, rows, buffer } = this.#terminal;
    const column = Math.floor(((this.#start.x - box.left) / box.width) * cols);
    const row = buffer.active.viewportY + Math.floor(((this.#start.y - box.top) / box.height) * rows);
    const line = buffer.active.getLine(row);
    const cells = Array.from({ length: cols }, (_, x) => line?.getCell(x)?.getChars() ?? "");
    this.#selected = true;
    navigator.vibrate?.(10);
    const word = wordAt(cells, column);
    if (word) this.#terminal.select(word.start, row, word.length);
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
