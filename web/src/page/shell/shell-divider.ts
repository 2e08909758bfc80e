// A line in the scrollback between the output of an ended shell and the next shell.

import type { IDecoration, Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { make } from "../../base/dom";
import type { TerminalChannel, TerminalState } from "../../terminal/terminal-channel";
import { exitText } from "../status";

/** Maximum number of dividers; the scrollback rarely contains more shells. */
const MAX_DIVIDERS = 50;

export class ShellDivider implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #terminal: Terminal;
  readonly #dividers: IDecoration[] = [];
  #instance: string | undefined;
  #ending = "has ended";
  /**
   * The sequence that is expected next. When a new shell starts, its output first erases the screen and then moves the
   * cursor to the first cell; after both, the divider is drawn.
   */
  #expected: "nothing" | "erasure" | "home" = "nothing";

  constructor(terminal: Terminal, channel: TerminalChannel) {
    this.#terminal = terminal;
    this.#instance = channel.info?.instance;
    this.#note(channel.state); // the shell may already have ended
    this.#disposables.add(
      channel.onState(state => this.#note(state)),
      channel.onOpened(({ instance }) => {
        if (this.#instance !== undefined && this.#instance !== instance) this.#expected = "erasure";
        this.#instance = instance;
      }),
      terminal.parser.registerCsiHandler({ final: "J" }, ([what]) => {
        if (this.#expected === "erasure" && what === 2) this.#expected = "home";
        return false;
      }),
      terminal.parser.registerCsiHandler({ final: "H" }, () => {
        if (this.#expected === "home") this.#divide();
        return false;
      }),
    );
    this.#disposables.defer(() => {
      for (const divider of this.#dividers) divider.dispose();
    });
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #note(state: TerminalState): void {
    if (state.phase === "ended") this.#ending = state.exit ? exitText(state.exit) : "has ended";
  }

  #divide(): void {
    this.#expected = "nothing";
    const { active } = this.#terminal.buffer;
    const marker = this.#terminal.registerMarker(-active.cursorY);
    const width = this.#terminal.cols;
    // A divider needs a line above it.
    const divider = marker.line > 0 && this.#terminal.registerDecoration({ marker, width, layer: "top" });
    if (!divider) return;
    const text = `The shell above ${this.#ending} ↑`;
    divider.onRender(element => {
      if (element.firstChild) return;
      element.classList.add("shell-divider");
      const button = make("button", "", text);
      button.type = "button";
      button.tabIndex = -1;
      button.onclick = () => this.#terminal.scrollToLine(Math.max(0, marker.line - this.#terminal.rows));
      element.append(button);
    });
    this.#dividers.push(divider);
    if (this.#dividers.length > MAX_DIVIDERS) this.#dividers.shift()?.dispose();
  }
}
