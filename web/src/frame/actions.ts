// The table of user actions. The palette, the menus, the shortcuts and the list of shortcuts are derived from it.

import { createKeybindingsHandler } from "tinykeys";
import { type Disposable, DisposableList } from "../base/disposables";

export interface Action {
  /** Unique name. */
  readonly id: string;
  /** Title in the imperative, as in a menu. If it depends on the state, it's a function, which can read signals. */
  readonly label: string | (() => string);
  /** Heading for the action in the list of shortcuts and in menus. */
  readonly group: string;
  /** Shortcuts in tinykeys notation, for Apple systems and for other systems. */
  readonly keys?: { readonly mac: string; readonly other: string };
  /** Whether the action handles its `keys` now; default: always. If it doesn't, the focused element receives them. */
  readonly keysFree?: () => boolean;
  /** Additional keys, the same on all systems. The action handles them even if `keysFree` returns false. */
  readonly also?: string;
  /** Whether the page's menu includes the action. */
  readonly menu?: boolean;
  /** Whether the action is possible now; default: always. */
  readonly available?: () => boolean;
  /** For an action that turns something on or off: whether it is on. */
  readonly checked?: () => boolean;
  run(): void;
}

export function labelOf({ label }: Action): string {
  return typeof label === "string" ? label : label();
}

export function isAvailable({ available }: Action): boolean {
  return available?.() ?? true;
}

export class Actions implements Disposable {
  readonly #actions = new Map<string, Action>();
  readonly #mac: boolean;
  readonly #disposables = new DisposableList();
  #handle: (event: Event) => void = () => {};

  /** `mac` selects the shortcuts for Apple systems. */
  constructor(mac: boolean) {
    this.#mac = mac;
  }

  /** Adds actions. Throws Error if an id or a shortcut is already in use. */
  add(...actions: Action[]): void {
    for (const action of actions) {
      const keys = this.#keysOf(action)?.toLowerCase();
      const taken = this.all.find(
        other => other.id === action.id || (keys && this.#keysOf(other)?.toLowerCase() === keys),
      );
      if (taken) throw new Error(`the action ${action.id} has the same id or keys as ${taken.id}`);
      this.#actions.set(action.id, action);
    }
    this.#bind();
  }

  get all(): Action[] {
    return [...this.#actions.values()];
  }

  /** The actions that are possible now. */
  get available(): Action[] {
    return this.all.filter(isAvailable);
  }

  /** Runs the action if it is possible now. */
  run(id: string): void {
    const action = this.#actions.get(id);
    if (action && isAvailable(action)) action.run();
  }

  /** Returns the action's shortcut as displayed, such as `Ctrl+Shift+F` or `⌘F`. */
  shortcut(id: string): string | undefined {
    const action = this.#actions.get(id);
    const keys = action && this.#keysOf(action);
    return keys && keysForPeople(keys, this.#mac);
  }

  /** Handles the shortcuts of `target` before the elements inside it receive the keys. */
  listen(target: EventTarget): void {
    this.#disposables.listen(target, "keydown", event => this.#handle(event), { capture: true });
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #keysOf({ keys }: Action): string | undefined {
    return keys?.[this.#mac ? "mac" : "other"];
  }

  #bind(): void {
    const bindings: Record<string, (event: KeyboardEvent) => void> = {};
    const bind = (keys: string | undefined, action: Action, free: () => boolean) => {
      if (!keys) return;
      bindings[keys] = event => {
        if (!isAvailable(action) || !free()) return;
        event.preventDefault();
        event.stopPropagation();
        action.run();
      };
    };
    for (const action of this.all) {
      bind(this.#keysOf(action), action, action.keysFree ?? always);
      bind(action.also, action, always);
    }
    this.#handle = createKeybindingsHandler(bindings) as (event: Event) => void;
  }
}

const always = () => true;

const SYMBOLS: Record<string, string> = { Meta: "⌘", Shift: "⇧", Alt: "⌥", Control: "⌃" };
const NAMES: Record<string, string> = {
  Control: "Ctrl",
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Enter: "↵",
};

export function keysForPeople(keys: string, mac: boolean): string {
  const words = keys.split("+");
  if (mac) return words.map(word => SYMBOLS[word] ?? NAMES[word] ?? word.toUpperCase()).join("");
  return words.map(word => NAMES[word] ?? (word.length === 1 ? word.toUpperCase() : word)).join("+");
}
