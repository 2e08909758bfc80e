// The keys missing from touch keyboards, on two pages. Ctrl and Alt are sticky: they apply to the next character,
// whether from this bar or from the keyboard. Movement keys repeat while held down.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { make } from "../../base/dom";

const ESC = "\x1b";
const KEYS: Record<string, string> = {
  Escape: ESC,
  Tab: "\t",
  Interrupt: "\x03",
  EndOfFile: "\x04",
  Suspend: "\x1a",
};
const CURSOR: Record<string, string> = {
  ArrowUp: "A",
  ArrowDown: "B",
  ArrowRight: "C",
  ArrowLeft: "D",
  Home: "H",
  End: "F",
};
const PAGES: Record<string, string> = { Delete: "3", PageUp: "5", PageDown: "6" };

/** Milliseconds until a key that is held down starts repeating, and between repeats, as on most systems. */
const REPEAT_AFTER = 400;
const REPEAT_EVERY = 60;

interface Key {
  /** Its label. */
  readonly cap: string;
  readonly name?: string;
  /** The name of the key, or the `text` that it types. */
  readonly key?: string;
  readonly text?: string;
}

const text = (cap: string): Key => ({ cap, text: cap });
const MORE: Key = { cap: "···", name: "More keys", key: "More" };
/** Two rows of six keys; the arrow keys are arranged as on a keyboard. */
const LAYOUT: readonly (readonly Key[])[] = [
  [
    { cap: "esc", key: "Escape" },
    { cap: "tab", key: "Tab" },
    { cap: "ctrl", key: "Control" },
    { cap: "↑", name: "Up", key: "ArrowUp" },
    { cap: "alt", key: "Alt" },
    MORE,
    { cap: "^C", name: "Control C", key: "Interrupt" },
    text("/"),
    { cap: "←", name: "Left", key: "ArrowLeft" },
    { cap: "↓", name: "Down", key: "ArrowDown" },
    { cap: "→", name: "Right", key: "ArrowRight" },
    { cap: "paste", key: "Paste" },
  ],
  [
    text("|"),
    text("~"),
    text("-"),
    { cap: "pg↑", name: "Page up", key: "PageUp" },
    { cap: "del", name: "Delete", key: "Delete" },
    MORE,
    { cap: "^D", name: "Control D", key: "EndOfFile" },
    { cap: "^Z", name: "Control Z", key: "Suspend" },
    { cap: "home", key: "Home" },
    { cap: "pg↓", name: "Page down", key: "PageDown" },
    { cap: "end", key: "End" },
    text("_"),
  ],
];

/** Returns the control character for Ctrl with `text` (ECMA-48), or `text` unchanged if there is none. */
export function withControl(text: string): string {
  const code = text.toUpperCase().charCodeAt(0);
  if (text.length !== 1) return text;
  if (code >= 0x40 && code <= 0x5f) return String.fromCharCode(code & 0x1f);
  if (text === " ") return "\0";
  if (text === "?") return "\x7f";
  return text;
}

/** Returns the sequence sent by a key (xterm's ctlseqs, "PC-Style Function Keys"). */
export function keySequence(
  key: string,
  { control = false, alt = false, applicationCursor = false },
): string {
  const modifier = 1 + (alt ? 2 : 0) + (control ? 4 : 0);
  const cursor = CURSOR[key];
  if (cursor && modifier > 1) return `${ESC}[1;${modifier}${cursor}`;
  if (cursor) return `${ESC}${applicationCursor ? "O" : "["}${cursor}`;
  const page = PAGES[key];
  if (page) return `${ESC}[${page}${modifier > 1 ? `;${modifier}` : ""}~`;
  const plain = KEYS[key] ?? "";
  return alt && plain ? ESC + plain : plain;
}

export function repeats(key: string | undefined): boolean {
  return key !== undefined && (key in CURSOR || key in PAGES);
}

export class KeyBar implements Disposable {
  readonly #bar: HTMLElement;
  readonly #active: () => Terminal | undefined;
  readonly #disposables = new DisposableList();
  readonly #pages: HTMLElement[];
  #control = false;
  #alt = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `active` returns the terminal that receives the keys. */
  constructor(bar: HTMLElement, active: () => Terminal | undefined) {
    this.#bar = bar;
    this.#active = active;
    // Browsers allow pages to read the clipboard only over https. Otherwise, another key is shown instead of the paste
    // key.
    const mayPaste = navigator.clipboard?.readText !== undefined;
    this.#pages = LAYOUT.map(keys =>
      make("div", "key-page", ...keys.map(key => button(key.key === "Paste" && !mayPaste ? text("$") : key))),
    );
    bar.replaceChildren(...this.#pages);
    this.#turn(0);
    // Pressing a key must not move the focus away from the terminal, because that would close the touch keyboard.
    this.#disposables.listen<PointerEvent>(bar, "pointerdown", event => {
      event.preventDefault();
      const key = keyOf(event)?.dataset.key;
      if (repeats(key)) this.#hold(key ?? "");
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"])
      this.#disposables.listen(bar, end, () => clearTimeout(this.#timer));
    // A long press must not open the browser's menu.
    this.#disposables.listen(bar, "contextmenu", event => event.preventDefault());
    this.#disposables.listen<MouseEvent>(bar, "click", event => {
      const { key, text } = keyOf(event)?.dataset ?? {};
      // A repeating key has already been handled on pointerdown, unless the click comes from assistive technology.
      if (repeats(key) && event.detail > 0) return;
      this.#press(key, text);
    });
    this.#disposables.defer(() => clearTimeout(this.#timer));
  }

  /** Translates the terminal's input, applying any pressed modifiers once. */
  readonly translate = (text: string): string => {
    if (!this.#control && !this.#alt) return text;
    const changed = (this.#alt ? ESC : "") + (this.#control ? withControl(text) : text);
    this.#setModifiers(false, false);
    return changed;
  };

  dispose(): void {
    this.#disposables.dispose();
    this.#bar.replaceChildren();
  }

  #hold(key: string): void {
    const [control, alt] = [this.#control, this.#alt];
    this.#press(key, undefined);
    const again = () => {
      this.#send(key, { control, alt });
      this.#timer = setTimeout(again, REPEAT_EVERY);
    };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(again, REPEAT_AFTER);
  }

  #press(key: string | undefined, text: string | undefined): void {
    const terminal = this.#active();
    terminal?.focus();
    if (key === "More") this.#turn(1 - this.#pages.findIndex(({ hidden }) => !hidden));
    else if (!terminal) return;
    else if (key === "Control") this.#setModifiers(!this.#control, this.#alt);
    else if (key === "Alt") this.#setModifiers(this.#control, !this.#alt);
    else if (key === "Paste") void this.#paste(terminal);
    else if (text !== undefined) terminal.input(text);
    else if (key !== undefined) {
      const modifiers = { control: this.#control, alt: this.#alt };
      // The modifiers are reset first, so that they aren't applied again to the sequence being sent.
      this.#setModifiers(false, false);
      this.#send(key, modifiers);
    }
  }

  #send(key: string, modifiers: { control: boolean; alt: boolean }): void {
    const terminal = this.#active();
    const applicationCursor = terminal?.modes.applicationCursorKeysMode ?? false;
    terminal?.input(keySequence(key, { ...modifiers, applicationCursor }));
  }

  async #paste(terminal: Terminal): Promise<void> {
    // If the user denies access, nothing is pasted.
    terminal.paste(await navigator.clipboard.readText().catch(() => ""));
  }

  #turn(page: number): void {
    for (const [index, each] of this.#pages.entries()) each.hidden = index !== page;
  }

  #setModifiers(control: boolean, alt: boolean): void {
    this.#control = control;
    this.#alt = alt;
    this.#bar.querySelector("[data-key=Control]")?.setAttribute("aria-pressed", String(control));
    this.#bar.querySelector("[data-key=Alt]")?.setAttribute("aria-pressed", String(alt));
  }
}

function button({ cap, name, key, text }: Key): HTMLButtonElement {
  const element = make("button", "", cap);
  element.type = "button";
  if (name) element.ariaLabel = name;
  if (key) element.dataset.key = key;
  if (text) element.dataset.text = text;
  if (key === "Control" || key === "Alt") element.ariaPressed = "false";
  return element;
}

function keyOf({ target }: Event): HTMLButtonElement | null {
  return (target as Element).closest("button");
}
