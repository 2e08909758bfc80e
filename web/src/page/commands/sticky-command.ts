// Keeps a command's line at the top of its terminal while its output scrolls.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { make, setText } from "../../base/dom";
import { visible } from "../../base/visible";
import { preferences } from "../settings/preferences";
import { type Command, type Commands, stateOf } from "./commands";

/** Returns the command whose output contains the line `top`, if the command's own line is above it. */
export function commandAbove(commands: Pick<Commands, "list" | "running">, top: number): Command | undefined {
  const { running } = commands;
  // If a command has a lot of output, its line is no longer in the scrollback.
  if (running && (running.prompt.isDisposed || running.prompt.line < top)) return running;
  const found = commands.list.findLast(({ prompt }) => prompt.line < top);
  return found?.end && !found.end.isDisposed && found.end.line > top ? found : undefined;
}

export class StickyCommand implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #terminal: Terminal;
  readonly #commands: Commands;
  readonly #bar = make("button", "sticky-command");
  readonly #text = make("span", "");
  #shown: Command | undefined;

  constructor(stage: HTMLElement, terminal: Terminal, commands: Commands) {
    this.#terminal = terminal;
    this.#commands = commands;
    this.#bar.type = "button";
    this.#bar.hidden = true;
    this.#bar.tabIndex = -1; // not in the tab order, because Ctrl+Shift+↑ does the same as clicking it
    this.#bar.append(make("i", ""), this.#text);
    stage.append(this.#bar);
    this.#disposables.defer(() => this.#bar.remove());
    this.#disposables.listen(this.#bar, "click", () => {
      const { prompt } = this.#shown ?? {};
      terminal.scrollToLine(!prompt || prompt.isDisposed ? 0 : prompt.line);
      terminal.focus();
    });
    this.#disposables.add(terminal.onRender(() => this.#update())); // not `onScroll`, which fires for every line
    this.#disposables.defer(preferences().signal.subscribe(() => this.#update()));
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #update(): void {
    const { active } = this.#terminal.buffer;
    const wanted = active.type === "normal" && preferences().value.sticky;
    const command = wanted ? commandAbove(this.#commands, active.viewportY) : undefined;
    if (this.#bar.hidden === Boolean(command?.line)) this.#bar.hidden = !command?.line;
    if (!command) return;
    const { fontFamily = "", fontSize } = this.#terminal.options;
    const state = stateOf(command);
    if (this.#bar.dataset.state !== state) this.#bar.dataset.state = state;
    if (this.#shown === command && this.#bar.style.fontSize === `${fontSize}px`) return;
    this.#shown = command;
    Object.assign(this.#bar.style, { fontFamily, fontSize: `${fontSize}px` });
    setText(this.#text, command.line);
    this.#bar.title = `${visible(command.line)}\nGo to this command`;
  }
}
