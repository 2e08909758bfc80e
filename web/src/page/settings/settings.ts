// Stored settings. The viewer's key is stored per tab, everything else per browser. If the storage is full or disabled,
// nothing is stored and the defaults apply.

import { type ReadonlySignal, signal } from "@preact/signals";
import { randomId } from "../../base/random-id";

export type ThemeName = "dark" | "light";

/** Terminal colours that replace the page's own, keyed by their names in xterm.js's ITheme. */
export interface ColorScheme {
  readonly name: string;
  readonly colors: Readonly<Record<string, string>>;
}

export interface Settings {
  /** If undefined, the system's theme is used. */
  theme: ThemeName | undefined;
  /** The colours to use while the page is dark and while it is light; if undefined, the page's own colours are used. */
  dark: ColorScheme | undefined;
  light: ColorScheme | undefined;
  /** Name of the terminal font; if empty, the page's own font is used. */
  font: string;
  fontSize: number;
  screenReader: boolean;
  /** The name shown to other viewers; if empty, the server assigns one. */
  name: string;
}

export const FONT_SIZES = { min: 8, max: 32, default: 14 } as const;
const SETTINGS = "hawse.settings";
const VIEWER = "hawse.viewer";

export function loadSettings(storage: () => Storage): Settings {
  const found = parse(attempt(() => storage().getItem(SETTINGS)));
  return {
    theme: found.theme === "light" || found.theme === "dark" ? found.theme : undefined,
    dark: schemeOf(found.dark),
    light: schemeOf(found.light),
    font: validFont(found.font) ? found.font : "",
    fontSize: clampFontSize(Number(found.fontSize) || FONT_SIZES.default),
    screenReader: found.screenReader === true,
    name: typeof found.name === "string" ? found.name.slice(0, 40) : "",
  };
}

export function saveSettings(storage: () => Storage, settings: Settings): void {
  attempt(() => storage().setItem(SETTINGS, JSON.stringify(settings)));
}

/** The current settings. Changes are stored immediately. */
export class SettingsStore {
  readonly #storage: () => Storage;
  readonly #signal;

  constructor(storage: () => Storage) {
    this.#storage = storage;
    this.#signal = signal(loadSettings(storage));
  }

  get signal(): ReadonlySignal<Settings> {
    return this.#signal;
  }

  get value(): Settings {
    return this.#signal.peek();
  }

  update(change: Partial<Settings>): void {
    this.#signal.value = { ...this.#signal.peek(), ...change };
    saveSettings(this.#storage, this.#signal.peek());
  }
}

/** Returns the key that identifies this tab's viewer across reloads. */
export function loadViewerKey(storage: () => Storage): string {
  const known = attempt(() => storage().getItem(VIEWER));
  if (known && known.length <= 64) return known;
  const key = randomId();
  attempt(() => storage().setItem(VIEWER, key));
  return key;
}

/** Whether `name` is a valid font name that can be quoted in a style sheet. */
export function validFont(name: unknown): name is string {
  return typeof name === "string" && /^[^"'\\;{}<>]{1,100}$/.test(name);
}

export function clampFontSize(size: number): number {
  return Math.min(FONT_SIZES.max, Math.max(FONT_SIZES.min, Math.round(size)));
}

/** Returns a stored scheme; undefined if it's invalid. */
export function schemeOf(value: unknown): ColorScheme | undefined {
  const { name, colors } = recordOf(value);
  const valid = Object.values(recordOf(colors)).every(color => /^#([0-9a-f]{2}){3,4}$/i.test(String(color)));
  return typeof name === "string" && colors && valid ? ({ name, colors } as ColorScheme) : undefined;
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

function parse(text: string | null | undefined): Record<string, unknown> {
  return recordOf(attempt(() => JSON.parse(text ?? "")));
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
