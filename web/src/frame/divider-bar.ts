// The bar between two panes. It can be dragged with the pointer, moved with the arrow keys, and reset with a double
// click.

import { type Disposable, DisposableList } from "../base/disposables";
import { cssLength, type Divider, equalize, moveDivider, type Tree } from "./tree";
import type { Workspace } from "./workspace";

/** How far an arrow key moves a divider, as a fraction of the page. */
const KEY_STEP = 0.02;
const KEYS: Record<string, number> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

export class DividerBar implements Disposable {
  readonly #bar = document.createElement("div");
  readonly #parent: HTMLElement;
  readonly #disposables = new DisposableList();
  readonly #divider: Divider;
  readonly #workspace: Workspace;
  readonly #key: number;

  /** `key` identifies the tab whose tree contains the divider. */
  constructor(parent: HTMLElement, workspace: Workspace, key: number, divider: Divider) {
    this.#parent = parent;
    this.#workspace = workspace;
    this.#key = key;
    this.#divider = divider;
    this.#draw();
    this.#disposables.listen<PointerEvent>(this.#bar, "pointerdown", event => this.#drag(event));
    this.#disposables.listen(this.#bar, "dblclick", () => this.#reshape(tree => equalize(tree, divider)));
    this.#disposables.listen<KeyboardEvent>(this.#bar, "keydown", event => this.#press(event));
    parent.append(this.#bar);
    if (focused === nameOf(key, divider)) this.#bar.focus();
  }

  dispose(): void {
    if (document.activeElement === this.#bar) focused = nameOf(this.#key, this.#divider);
    this.#disposables.dispose();
    this.#bar.remove();
  }

  #draw(): void {
    const { box, direction, range } = this.#divider;
    const row = direction === "row";
    const part = row ? (box.x - range.x) / range.width : (box.y - range.y) / range.height;
    this.#bar.className = `divider ${direction}`;
    this.#bar.tabIndex = 0;
    this.#bar.role = "separator";
    this.#bar.ariaLabel = "Size of the panes";
    this.#bar.ariaOrientation = row ? "vertical" : "horizontal";
    this.#bar.ariaValueNow = String(Math.round(part * 100));
    this.#bar.style.left = cssLength(box, "x");
    this.#bar.style.top = cssLength(box, "y");
    this.#bar.style[row ? "height" : "width"] = cssLength(box, row ? "height" : "width");
  }

  #press(event: KeyboardEvent): void {
    const step = KEYS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.#reshape(tree => moveDivider(tree, this.#divider, step * KEY_STEP));
  }

  /** The listeners are on the parent because each move replaces the bar. */
  #drag(down: PointerEvent): void {
    down.preventDefault();
    const row = this.#divider.direction === "row";
    const { width, height } = this.#parent.getBoundingClientRect();
    const start = this.#workspace.tabs.value.find(({ key }) => key === this.#key)?.tree;
    if (!start) return;
    const listeners = new DisposableList();
    this.#parent.classList.add("dragging");
    listeners.defer(() => this.#parent.classList.remove("dragging"));
    listeners.listen<PointerEvent>(window, "pointermove", event => {
      const delta = row ? (event.clientX - down.clientX) / width : (event.clientY - down.clientY) / height;
      this.#reshape(() => moveDivider(start, this.#divider, delta));
    });
    for (const end of ["pointerup", "pointercancel", "blur"])
      listeners.listen(window, end, () => listeners.dispose());
  }

  #reshape(change: (tree: Tree) => Tree): void {
    this.#workspace.reshape(this.#key, change);
  }
}

/** The divider that had the focus before a move replaced it. */
let focused = "";

function nameOf(key: number, { path, index }: Divider): string {
  return `${key}:${path.join(".")}:${index}`;
}
