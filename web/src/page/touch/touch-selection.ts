// The selection on a touch screen: handles at both ends, which can be dragged, and buttons for its actions.

import type { IBufferRange, Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { make } from "../../base/dom";

export interface TouchSelectionActions {
  readOnly: () => boolean;
  /** Copies the selection and clears it. */
  copy: () => void;
  paste: () => void;
}

/** Pixels between the selected lines and the buttons, and between the buttons and the edge of the pane. */
const GAP = 8;
/** Height of the part of a handle that is below its line, in pixels. */
const HANDLE = 30;

type End = "start" | "end";

/** Cells are counted from the first cell in the buffer, line by line. `end` is after the last cell. */
export interface CellRange {
  readonly start: number;
  readonly end: number;
}

/** Returns the range between the cells `one` and `other`, in either order. */
export function between(one: number, other: number): CellRange {
  return { start: Math.min(one, other), end: Math.max(one, other) + 1 };
}

export function rangeOf({ start, end }: IBufferRange, cols: number): CellRange {
  return { start: start.y * cols + start.x, end: end.y * cols + end.x };
}

export class TouchSelection implements Disposable {
  readonly #terminal: Terminal;
  readonly #stage: HTMLElement;
  readonly #disposables = new DisposableList();
  readonly #layer = make("div", "touch-selection");
  readonly #handles: Record<End, HTMLElement> = {
    start: make("span", "handle start"),
    end: make("span", "handle end"),
  };
  readonly #bar = make("div", "selection-bar");
  /** The position of the finger, if nothing is selected. */
  #point: { x: number; y: number } | undefined;

  constructor(stage: HTMLElement, host: HTMLElement, terminal: Terminal, actions: TouchSelectionActions) {
    this.#stage = stage;
    this.#terminal = terminal;
    const button = (label: string, run: () => void, stays = false) => {
      const made = make("button", "", label);
      made.type = "button";
      this.#disposables.listen(made, "click", () => {
        if (!stays) this.hide();
        run();
      });
      return made;
    };
    const copy = button("Copy", actions.copy);
    const paste = button("Paste", actions.paste);
    this.#bar.role = "toolbar";
    this.#bar.ariaLabel = "Selection";
    this.#bar.append(
      copy,
      paste,
      button("All", () => terminal.selectAll(), true),
    );
    this.#layer.append(this.#handles.start, this.#handles.end, this.#bar);
    this.#layer.hidden = true;
    stage.append(this.#layer);
    for (const end of ["start", "end"] as const) this.#drag(end);
    const place = () => this.#layer.hidden || this.#place();
    this.#disposables.add(
      terminal.onRender(place),
      terminal.onResize(place),
      terminal.onSelectionChange(() => {
        copy.hidden = !terminal.hasSelection();
        paste.hidden = actions.readOnly();
        if (!terminal.hasSelection() && !this.#point) this.hide();
        else place();
      }),
    );
    this.#disposables.listen(host, "click", () => this.hide());
    this.#disposables.defer(() => this.#layer.remove());
  }

  /** Shows the handles. If there is no selection, shows only the buttons, at a point on the page. */
  show(point: { x: number; y: number }): void {
    const selected = this.#terminal.hasSelection();
    this.#point = selected ? undefined : point;
    for (const handle of Object.values(this.#handles)) handle.hidden = !selected;
    this.#layer.hidden = false;
    this.#place();
  }

  hide(): void {
    this.#layer.hidden = true;
    this.#point = undefined;
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Moves one end of the selection with the finger. If it passes the other end, the two are swapped. */
  #drag(end: End): void {
    const handle = this.#handles[end];
    /** The cell at the other end, and the distance from the finger to the middle of the cell at this end. */
    let grip: { other: number; x: number; y: number } | undefined;
    this.#disposables.listen<PointerEvent>(handle, "pointerdown", event => {
      event.preventDefault();
      const range = this.#range();
      const screen = this.#screen();
      if (!range || !screen) return;
      handle.setPointerCapture(event.pointerId);
      const cell = end === "start" ? range.start : range.end - 1;
      const { cols, buffer } = this.#terminal;
      const row = Math.floor(cell / cols) - buffer.active.viewportY;
      grip = {
        other: end === "start" ? range.end - 1 : range.start,
        x: screen.left + ((cell % cols) + 0.5) * screen.width - event.clientX,
        y: screen.top + (row + 0.5) * screen.height - event.clientY,
      };
      this.#bar.hidden = true;
    });
    // Disables the browser's gestures: otherwise, after a quick drag, it treats a tap on the buttons as the end of a
    // fling, and there is no click.
    const touched = (event: TouchEvent) => event.preventDefault();
    this.#disposables.listen<TouchEvent>(handle, "touchstart", touched, { passive: false });
    this.#disposables.listen<PointerEvent>(handle, "pointermove", event => {
      if (!grip) return;
      const cell = cellAt(this.#terminal, event.clientX + grip.x, event.clientY + grip.y);
      if (cell !== undefined) select(this.#terminal, between(grip.other, cell));
    });
    for (const name of ["pointerup", "pointercancel"])
      this.#disposables.listen(handle, name, () => {
        grip = undefined;
        this.#bar.hidden = false;
        this.#place();
      });
  }

  #range(): CellRange | undefined {
    const position = this.#terminal.getSelectionPosition();
    return position && rangeOf(position, this.#terminal.cols);
  }

  #screen() {
    return screenOf(this.#terminal);
  }

  #place(): void {
    const screen = this.#screen();
    if (!screen) return;
    const stage = this.#stage.getBoundingClientRect();
    const [left, top] = [screen.left - stage.left, screen.top - stage.top];
    const { cols, rows, buffer } = this.#terminal;
    const range = this.#range();
    let above = (this.#point?.y ?? stage.top) - stage.top;
    let below = above;
    let middle = (this.#point?.x ?? stage.left) - stage.left;
    if (range) {
      const lines = { start: 0, end: 0 };
      const across = { start: 0, end: 0 };
      for (const end of ["start", "end"] as const) {
        const cell = end === "start" ? range.start : range.end - 1;
        lines[end] = Math.floor(cell / cols) - buffer.active.viewportY;
        across[end] = left + ((cell % cols) + (end === "end" ? 1 : 0)) * screen.width;
        const handle = this.#handles[end];
        handle.hidden = lines[end] < 0 || lines[end] >= rows;
        handle.style.transform = `translate(${across[end]}px, ${top + (lines[end] + 1) * screen.height}px)`;
      }
      above = top + Math.max(0, lines.start) * screen.height;
      below = top + Math.min(rows, lines.end + 1) * screen.height + HANDLE;
      middle = lines.start === lines.end ? (across.start + across.end) / 2 : left + (cols / 2) * screen.width;
    }
    const { offsetWidth: width, offsetHeight: height } = this.#bar;
    const x = Math.max(GAP, Math.min(middle - width / 2, stage.width - width - GAP));
    const over = above - height - GAP;
    const y = over >= GAP ? over : Math.min(below + GAP, stage.height - height - GAP);
    this.#bar.style.transform = `translate(${x}px, ${y}px)`;
  }
}

/** Returns the position of the screen on the page and the size of a cell, in pixels. */
export function screenOf(
  terminal: Terminal,
): { left: number; top: number; width: number; height: number } | undefined {
  const box = terminal.element?.querySelector(".xterm-screen")?.getBoundingClientRect();
  if (!box?.width || !box.height) return undefined;
  return {
    left: box.left,
    top: box.top,
    width: box.width / terminal.cols,
    height: box.height / terminal.rows,
  };
}

/**
 * Returns the cell at a point on the page, or the nearest one. If the point is above or below the screen, scrolls by
 * one line.
 */
export function cellAt(terminal: Terminal, x: number, y: number): number | undefined {
  const screen = screenOf(terminal);
  if (!screen) return undefined;
  const { cols, rows, buffer } = terminal;
  const row = Math.floor((y - screen.top) / screen.height);
  if (row < 0) terminal.scrollLines(-1);
  else if (row >= rows) terminal.scrollLines(1);
  const column = Math.floor((x - screen.left) / screen.width);
  const inside = (value: number, most: number) => Math.max(0, Math.min(value, most - 1));
  return (buffer.active.viewportY + inside(row, rows)) * cols + inside(column, cols);
}

export function select(terminal: Terminal, { start, end }: CellRange): void {
  terminal.select(start % terminal.cols, Math.floor(start / terminal.cols), end - start);
}
