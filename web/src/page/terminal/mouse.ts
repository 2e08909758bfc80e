// The mouse in a terminal: copies selected text, and performs the right button's action.

import "../style/menus.css";
import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { openMenu } from "../../frame/menu";
import { type Preferences, preferences, type RightClick } from "../settings/preferences";
import { LongPress } from "../touch/long-press";
import { TouchSelection } from "../touch/touch-selection";
import { copyText } from "./clipboard";

export interface MouseActions {
  readOnly: () => boolean;
  find: () => void;
  toast: (text: string) => void;
}

type Effect = "program" | "browser" | "menu" | "copy" | "paste";

export interface Click {
  readonly setting: RightClick;
  /** `navigator.platform`. */
  readonly platform: string;
  /** Whether the program receives mouse events. */
  readonly tracked: boolean;
  readonly shift: boolean;
  readonly selected: boolean;
}

/** Returns the right button's action. While Shift is held down, the program doesn't receive the click. */
export function effectOf({ setting, platform, tracked, shift, selected }: Click): Effect {
  if (tracked && !shift) return "program";
  if (setting === "menu" || setting === "browser") return setting;
  // Terminals on Windows copy the selection or paste; on other systems, they open a menu.
  if (setting === "platform" && !/^Win/.test(platform)) return "menu";
  return selected ? "copy" : "paste";
}

export class Mouse implements Disposable {
  readonly #terminal: Terminal;
  readonly #actions: MouseActions;
  readonly #disposables = new DisposableList();
  /** Whether the selection has changed since the button was pressed. */
  #changed = false;

  constructor(stage: HTMLElement, host: HTMLElement, terminal: Terminal, actions: MouseActions) {
    this.#terminal = terminal;
    this.#actions = actions;
    this.#disposables.listen<PointerEvent>(host, "pointerdown", () => {
      this.#changed = false;
    });
    // xterm reports a selection when it receives `mouseup`, which comes after `pointerup`.
    this.#disposables.listen(window, "mouseup", () => this.#released());
    this.#disposables.listen<PointerEvent>(host, "contextmenu", event => this.#pressed(event), {
      capture: true,
    });
    const touch = new TouchSelection(stage, host, terminal, {
      readOnly: actions.readOnly,
      copy: () => void this.#copy(),
      paste: () => void this.#paste(),
    });
    this.#disposables.add(
      touch,
      new LongPress(host, terminal, place => touch.show(place)),
      terminal.onSelectionChange(() => {
        this.#changed = true;
      }),
    );
  }

  get #preferences(): Preferences {
    return preferences().value;
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #released(): void {
    if (!this.#changed || !this.#preferences.copyOnSelect || !this.#terminal.hasSelection()) return;
    this.#changed = false;
    void copyText(this.#terminal.getSelection());
  }

  #pressed(event: PointerEvent): void {
    if (event.pointerType === "touch") {
      event.preventDefault(); // see long-press.ts
      return;
    }
    const terminal = this.#terminal;
    const effect = effectOf({
      setting: this.#preferences.rightClick,
      platform: navigator.platform,
      tracked: terminal.modes.mouseTrackingMode !== "none",
      shift: event.shiftKey,
      selected: terminal.hasSelection(),
    });
    if (effect === "browser") return;
    event.preventDefault();
    event.stopPropagation();
    if (effect === "menu") this.#menu({ x: event.clientX, y: event.clientY });
    else if (effect === "copy") void this.#copy();
    else if (effect === "paste") void this.#paste();
  }

  #menu(place: { x: number; y: number }): void {
    const terminal = this.#terminal;
    const mac = /Mac/.test(navigator.platform);
    const groups = [
      [
        {
          label: "Copy",
          hint: mac ? "⌘C" : "Ctrl+Shift+C",
          disabled: !terminal.hasSelection(),
          run: () => void this.#copy(),
        },
        {
          label: "Paste",
          hint: mac ? "⌘V" : "Ctrl+Shift+V",
          disabled: this.#actions.readOnly(),
          run: () => void this.#paste(),
        },
        { label: "Select all", run: () => terminal.selectAll() },
      ],
      [
        { label: "Find", hint: mac ? "⌘F" : "Ctrl+Shift+F", run: this.#actions.find },
        { label: "Clear the scrollback", run: () => terminal.clear() },
      ],
    ];
    openMenu("Terminal", groups, place, chosen => chosen || terminal.focus());
  }

  async #copy(): Promise<void> {
    this.#terminal.focus();
    const text = this.#terminal.getSelection();
    if (await copyText(text)) this.#terminal.clearSelection();
    else this.#actions.toast("The browser does not allow this page to copy.");
  }

  async #paste(): Promise<void> {
    const terminal = this.#terminal;
    terminal.focus();
    try {
      terminal.paste(await navigator.clipboard.readText());
    } catch {
      // Browsers allow pages to read the clipboard only over https and with the user's permission.
      const keys = /Mac/.test(navigator.platform) ? "⌘V" : "Ctrl+Shift+V";
      this.#actions.toast(`The browser does not let this page read the clipboard. Paste with ${keys}.`);
    }
  }
}
