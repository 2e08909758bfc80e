// A button at the bottom of a scrolled-back terminal. It scrolls to the end and shows the number of new lines.

import "../style/jump-pill.css";
import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { make, setText } from "../../base/dom";

export class JumpPill implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #terminal: Terminal;
  readonly #button = make("button", "jump-pill");
  /** Number of lines that were above the screen when the user scrolled back; undefined while the end is visible. */
  #left: number | undefined;

  constructor(stage: HTMLElement, terminal: Terminal) {
    this.#terminal = terminal;
    this.#button.type = "button";
    this.#button.hidden = true;
    stage.append(this.#button);
    this.#disposables.defer(() => this.#button.remove());
    this.#disposables.listen(this.#button, "click", () => {
      terminal.scrollToBottom();
      terminal.focus();
    });
    this.#disposables.add(terminal.onRender(() => this.#update())); // not `onScroll`, which fires for every line
    this.#update();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #update(): void {
    const { viewportY, baseY } = this.#terminal.buffer.active;
    if (viewportY >= baseY) {
      if (this.#left !== undefined) this.#button.hidden = true;
      this.#left = undefined;
      return;
    }
    this.#left ??= baseY;
    this.#button.hidden = false;
    setText(this.#button, jumpText(baseY - this.#left));
  }
}

export function jumpText(lines: number): string {
  if (lines <= 0) return "Go to the end ↓";
  return `${lines.toLocaleString("en")} new ${lines === 1 ? "line" : "lines"} ↓`;
}
