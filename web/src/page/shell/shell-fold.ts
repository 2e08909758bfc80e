// When a shell ends, its pane folds to a line with the shell's name, exit status and duration. The output is kept and
// can be shown. If the shell failed, the pane stays open, because its last lines explain why.

import "../style/shell-fold.css";
import { effect, type ReadonlySignal } from "@preact/signals";
import { type Disposable, DisposableList } from "../../base/disposables";
import { make, setText } from "../../base/dom";
import type { TerminalChannel } from "../../terminal/terminal-channel";
import { age } from "../../views/processes/format";
import { HawseError } from "../../wire/errors";
import type { Exit, TerminalInfo } from "../../wire/methods";
import type { Status } from "../status";

export interface FoldOptions {
  readonly status: ReadonlySignal<Status>;
  readonly channel: TerminalChannel;
  readonly title: () => string;
  readonly readOnly: () => boolean;
  /** Returns when the terminal was started and when it ended. Throws HawseError. */
  readonly info: () => Promise<Pick<TerminalInfo, "started" | "ended">>;
  readonly restart: () => void;
  readonly close: () => void;
  /** Whether the pane can be closed; the last pane on the page can't. */
  readonly closable: () => boolean;
  /** Whether the keyboard focus is in this pane. */
  readonly focused: () => boolean;
  readonly focusTerminal: () => void;
  /** Called when the output has been hidden or shown. */
  readonly folded: (folded: boolean) => void;
}

/** Whether the output is initially hidden, because the shell ended as the user intended. */
export function foldsAtFirst(exit: Exit | undefined): boolean {
  return exit?.code === 0;
}

export class ShellFold implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #options: FoldOptions;
  readonly #stage: HTMLElement;
  readonly #bar = make("section", "ended");
  readonly #dot = make("i", "");
  readonly #title = make("strong", "");
  readonly #text = make("span", "how");
  readonly #time = make("span", "time");
  readonly #toggle = button("plain", "Show output");
  readonly #restart = button("primary", "New shell here");
  readonly #close = button("plain", "Close");
  #ended = false;
  #instance: string | undefined;

  constructor(stage: HTMLElement, options: FoldOptions) {
    this.#stage = stage;
    this.#options = options;
    this.#bar.ariaLabel = "The shell has ended";
    this.#bar.hidden = true;
    this.#toggle.ariaExpanded = "true";
    const about = make("p", "", this.#dot, this.#title, this.#text, this.#time);
    about.role = "status";
    this.#bar.append(about, this.#toggle, this.#restart, this.#close);
    stage.append(this.#bar);
    this.#disposables.defer(() => this.#bar.remove());
    this.#disposables.listen(this.#toggle, "click", () => {
      this.#fold(!this.#folded);
      this.#toggle.focus();
    });
    this.#disposables.listen(this.#restart, "click", options.restart);
    this.#disposables.listen(this.#close, "click", options.close);
    this.#disposables.defer(effect(() => this.#show(options.status.value)));
  }

  dispose(): void {
    this.#stage.classList.remove("folded", "ended-shell");
    this.#options.folded(false);
    this.#disposables.dispose();
  }

  get #folded(): boolean {
    return this.#stage.classList.contains("folded");
  }

  #show({ kind, text }: Status): void {
    const ended = kind === "ended";
    const { state, info } = this.#options.channel;
    const exit = state.phase === "ended" ? state.exit : undefined;
    this.#stage.classList.toggle("ended-shell", ended);
    this.#bar.hidden = !ended;
    if (!ended) {
      this.#ended = false;
      this.#fold(false);
      setText(this.#text, "");
      return;
    }
    setText(this.#title, exit ? this.#options.title() : "");
    setText(this.#text, exit ? text : text.charAt(0).toUpperCase() + text.slice(1));
    this.#dot.className = foldsAtFirst(exit) ? "dot good" : "dot bad";
    this.#dot.hidden = !exit;
    this.#toggle.hidden = !exit;
    const again = this.#options.readOnly() ? "Try again" : "New shell here";
    setText(this.#restart, state.phase === "ended" && state.why === "replaced" ? "Show it" : again);
    this.#close.hidden = !this.#options.closable();
    if (this.#ended && this.#instance === info?.instance) return;
    this.#ended = true;
    this.#instance = info?.instance;
    setText(this.#time, "");
    if (exit) void this.#showTime(info?.instance);
    this.#fold(foldsAtFirst(exit));
  }

  #fold(folded: boolean): void {
    const changed = this.#folded !== folded;
    const focused = changed && this.#options.focused();
    this.#stage.classList.toggle("folded", folded);
    this.#options.folded(folded);
    this.#toggle.ariaExpanded = String(!folded);
    setText(this.#toggle, folded ? "Show output" : "Hide output");
    if (!focused) return;
    if (folded)
      this.#restart.focus(); // the terminal is hidden, so it can't have the focus
    else this.#options.focusTerminal();
  }

  async #showTime(instance: string | undefined): Promise<void> {
    try {
      const { started, ended } = await this.#options.info();
      if (ended == null || this.#instance !== instance) return;
      setText(this.#time, `ran ${age(ended - started)}`);
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem; // if the call fails, the line is shown without the duration
    }
  }
}

function button(className: string, label: string): HTMLButtonElement {
  const element = make("button", className, label);
  element.type = "button";
  return element;
}
