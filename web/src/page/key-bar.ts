// The keys that touch keyboards lack. Ctrl is sticky: it applies to the next character, from this bar or from the
// keyboard.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";

const ESC = "\x1b";
const KEYS: Record<string, string> = { Escape: ESC, Tab: "\t", Interrupt: "\x03" };
const ARROWS: Record<string, string> = { ArrowUp: "A", ArrowDown: "B", ArrowRight: "C", ArrowLeft: "D" };

/** Returns the control character for Ctrl with `text` (ECMA-48); text without one is returned unchanged. */
export function withControl(text: string): string {
  const code = text.toUpperCase().charCodeAt(0);
  if (text.length !== 1) return text;
  if (code >= 0x40 && code <= 0x5f) return String.fromCharCode(code & 0x1f);
  if (text === " ") return "\0";
  if (text === "?") return "\x7f";
  return text;
}

export function keySequence(key: string, options: { control: boolean; applicationCursor: boolean }): string {
  const arrow = ARROWS[key];
  if (arrow === undefined) return KEYS[key] ?? "";
  if (options.control) return `${ESC}[1;5${arrow}`;
  return `${ESC}${options.applicationCursor ? "O" : "["}${arrow}`;
}

export class KeyBar implements Disposable {
  readonly #bar: HTMLElement;
  readonly #active: () => Terminal | undefined;
  readonly #disposables = new DisposableList();
  #control = false;

  /** `active`: returns the terminal that gets the keys. */
  constructor(bar: HTMLElement, active: () => Terminal | undefined) {
    this.#bar = bar;
    this.#active = active;
    // A press must not move the focus away from the terminal, or the touch keyboard would close.
    this.#disposables.listen(bar, "pointerdown", event => event.preventDefault());
    this.#disposables.listen<MouseEvent>(bar, "click", event => {
      const button = (event.target as Element).closest("button");
      if (button && button !== paste) this.#press(button.dataset.key, button.dataset.text);
    });
    // Touch keyboards cannot paste into a terminal. Browsers allow reading the clipboard only over https.
    const paste = bar.querySelector<HTMLElement>("#paste");
    if (!paste || !navigator.clipboard?.readText) return;
    paste.hidden = false;
    this.#disposables.listen(paste, "click", () => void this.#paste());
  }

  /** Translates the terminal's input: applies a pressed Ctrl once. */
  readonly translate = (text: string): string => {
    if (!this.#control) return text;
    this.#setControl(false);
    return withControl(text);
  };

  dispose(): void {
    this.#disposables.dispose();
  }

  async #paste(): Promise<void> {
    const terminal = this.#active();
    terminal?.focus();
    // If the user denies access, nothing is pasted.
    terminal?.paste(await navigator.clipboard.readText().catch(() => ""));
  }

  #press(key: string | undefined, text: string | undefined): void {
    const terminal = this.#active();
    if (!terminal) return;
    terminal.focus();
    if (key === "Control") {
      this.#setControl(!this.#control);
      return;
    }
    const { applicationCursorKeysMode: applicationCursor } = terminal.modes;
    terminal.input(text ?? keySequence(key ?? "", { control: this.#control, applicationCursor }));
    this.#setControl(false);
  }

  #setControl(on: boolean): void {
    this.#control = on;
    this.#bar.querySelector("[data-key=Control]")?.setAttribute("aria-pressed", String(on));
  }
}
