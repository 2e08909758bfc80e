// Terminal preferences, stored per browser. Unlike the settings (settings.ts), they aren't needed before the first
// prompt.

import { type ReadonlySignal, signal } from "@preact/signals";
import { type ColorScheme, schemeOf } from "./settings";

/** The right mouse button's action. `platform` means whatever is usual on the user's system. */
export type RightClick = "platform" | "menu" | "paste" | "browser";
/** When to show typed text before the program has printed it. */
export type Predict = "slow" | "always" | "never";
/** Whether programs in the terminal may write to the clipboard. */
export type ClipboardAccess = "ask" | "allow" | "deny";

/** Whether several lines may be pasted into a program that treats each line end as the Enter key. */
export type PasteLines = "ask" | "allow";

export interface Preferences {
  copyOnSelect: boolean;
  rightClick: RightClick;
  clipboard: ClipboardAccess;
  pasteLines: PasteLines;
  /** Whether programs may show system notifications. */
  notify: boolean;
  images: boolean;
  /** Whether a command's line stays visible while its output scrolls. */
  sticky: boolean;
  predict: Predict;
  /** Schemes imported by the user. */
  schemes: readonly ColorScheme[];
}

export const DEFAULTS: Preferences = {
  copyOnSelect: false,
  rightClick: "platform",
  clipboard: "ask",
  pasteLines: "ask",
  notify: true,
  images: true,
  sticky: true,
  predict: "slow",
  schemes: [],
};
export const RIGHT_CLICKS: readonly RightClick[] = ["platform", "menu", "paste", "browser"];
export const CLIPBOARD_ACCESSES: readonly ClipboardAccess[] = ["ask", "allow", "deny"];
export const PASTE_LINES: readonly PasteLines[] = ["ask", "allow"];
export const PREDICTS: readonly Predict[] = ["slow", "always", "never"];
/** Maximum number of imported schemes; if there are more, the oldest is removed. */
export const MAX_SCHEMES = 12;
const KEY = "hawse.terminal";

export function loadPreferences(storage: () => Storage): Preferences {
  const found = parse(storage);
  const flag = (key: "copyOnSelect" | "notify" | "images" | "sticky") =>
    typeof found[key] === "boolean" ? found[key] : DEFAULTS[key];
  const schemes = Array.isArray(found.schemes) ? found.schemes.map(schemeOf) : [];
  return {
    copyOnSelect: flag("copyOnSelect"),
    rightClick: RIGHT_CLICKS.find(each => each === found.rightClick) ?? DEFAULTS.rightClick,
    clipboard: CLIPBOARD_ACCESSES.find(each => each === found.clipboard) ?? DEFAULTS.clipboard,
    pasteLines: PASTE_LINES.find(each => each === found.pasteLines) ?? DEFAULTS.pasteLines,
    notify: flag("notify"),
    images: flag("images"),
    sticky: flag("sticky"),
    predict: PREDICTS.find(each => each === found.predict) ?? DEFAULTS.predict,
    schemes: schemes.filter(scheme => scheme !== undefined).slice(-MAX_SCHEMES),
  };
}

/** The current preferences. Changes are stored immediately. */
export class PreferencesStore {
  readonly #storage: () => Storage;
  readonly #signal;

  constructor(storage: () => Storage) {
    this.#storage = storage;
    this.#signal = signal(loadPreferences(storage));
  }

  get signal(): ReadonlySignal<Preferences> {
    return this.#signal;
  }

  get value(): Preferences {
    return this.#signal.peek();
  }

  update(change: Partial<Preferences>): void {
    this.#signal.value = { ...this.#signal.peek(), ...change };
    try {
      this.#storage().setItem(KEY, JSON.stringify(this.#signal.peek()));
    } catch {
      // The storage is full or disabled, so the change lasts only until the page is closed.
    }
  }
}

let ofPage: PreferencesStore | undefined;

/** Returns this page's preferences. */
export function preferences(): PreferencesStore {
  ofPage ??= new PreferencesStore(() => localStorage);
  return ofPage;
}

function parse(storage: () => Storage): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(storage().getItem(KEY) ?? "");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
