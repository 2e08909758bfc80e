// Shows other viewers' pointers as flags on their screen cells, and sends the user's own pointer position at a limited
// rate. While a page is scrolled back, it neither shows nor sends pointers, because a cell is a position on the
// program's screen.

import type { Terminal } from "@xterm/xterm";
import { DisposableList } from "../../base/disposables";
import { setText } from "../../base/dom";
import type { People } from "../../terminal/people";

export interface Cell {
  x: number;
  y: number;
}

/** Minimum time between sending two positions, in milliseconds. */
const SEND_INTERVAL = 120;

export class Pointers {
  readonly #disposables = new DisposableList();
  readonly #terminal: Terminal;
  readonly #people: People;
  readonly #send: (at: Cell | null) => void;
  readonly #layer: HTMLElement;
  readonly #flags = new Map<string, HTMLElement>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #at: Cell | null = null;
  /** Whether the page is scrolled into the scrollback. */
  #scrolledBack = false;
  #lastSent: Cell | null = null;

  constructor(host: HTMLElement, terminal: Terminal, people: People, send: (at: Cell | null) => void) {
    this.#terminal = terminal;
    this.#people = people;
    this.#send = send;
    this.#layer = document.createElement("div");
    this.#layer.className = "pointers";
    this.#layer.setAttribute("aria-hidden", "true");
    host.append(this.#layer);
    this.#disposables.defer(() => this.#layer.remove());
    this.#disposables.defer(() => clearTimeout(this.#timer));
    this.#disposables.listen<PointerEvent>(host, "pointermove", event => this.#moved(this.#cell(event)));
    this.#disposables.listen(host, "pointerleave", () => this.#moved(null));
    this.#disposables.add(
      people.onChange(() => this.show()),
      terminal.onResize(() => this.show()),
      terminal.onRender(() => this.#scrolled()), // not `onScroll`, which fires for every line
    );
  }

  show(): void {
    const pointing = this.#people.others.filter(({ at }) => at !== null);
    // Measuring forces a layout, so it's skipped while there are no pointers to show.
    const screen = pointing.length > 0 ? this.#screen() : undefined;
    const seen = new Set<string>();
    for (const { id, name, color, at } of pointing) {
      if (!at || !screen || at.x >= this.#terminal.cols || at.y >= this.#terminal.rows) continue;
      seen.add(id);
      const flag = this.#flag(id);
      setText(flag, name);
      flag.style.setProperty("--color", color);
      flag.style.transform = `translate(${screen.left + (at.x + 0.5) * screen.width}px, ${screen.top + (at.y + 0.5) * screen.height}px)`;
    }
    for (const [id, flag] of this.#flags) {
      if (seen.has(id)) continue;
      flag.remove();
      this.#flags.delete(id);
    }
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** The flags change only when the user scrolls into or out of the scrollback. */
  #scrolled(): void {
    const { viewportY, baseY } = this.#terminal.buffer.active;
    if (this.#scrolledBack === (viewportY !== baseY)) return;
    this.#scrolledBack = !this.#scrolledBack;
    this.show();
  }

  #flag(id: string): HTMLElement {
    let flag = this.#flags.get(id);
    if (!flag) {
      flag = document.createElement("span");
      flag.className = "flag";
      this.#layer.append(flag);
      this.#flags.set(id, flag);
    }
    return flag;
  }

  #moved(at: Cell | null): void {
    this.#at = at;
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#at?.x === this.#lastSent?.x && this.#at?.y === this.#lastSent?.y) return;
      this.#lastSent = this.#at;
      this.#send(this.#at);
    }, SEND_INTERVAL);
  }

  #cell(event: PointerEvent): Cell | null {
    const screen = this.#screen();
    if (!screen) return null;
    const box = this.#layer.getBoundingClientRect();
    const x = Math.floor((event.clientX - box.left - screen.left) / screen.width);
    const y = Math.floor((event.clientY - box.top - screen.top) / screen.height);
    return x >= 0 && y >= 0 && x < this.#terminal.cols && y < this.#terminal.rows ? { x, y } : null;
  }

  /** The position of the cells in the layer and the size of a cell, in pixels; undefined while scrolled back. */
  #screen(): { left: number; top: number; width: number; height: number } | undefined {
    const { active } = this.#terminal.buffer;
    const element = this.#terminal.element?.querySelector(".xterm-screen");
    if (!element || active.viewportY !== active.baseY) return undefined;
    const inner = element.getBoundingClientRect();
    const outer = this.#layer.getBoundingClientRect();
    return {
      left: inner.left - outer.left,
      top: inner.top - outer.top,
      width: inner.width / this.#terminal.cols,
      height: inner.height / this.#terminal.rows,
    };
  }
}
