// What the page remembers: the token for this tab, the rest for this browser. Storage may be full or forbidden; then
// nothing is remembered, and that is all.

import { randomId } from "../base/random-id";

export type ThemeName = "dark" | "light";

export interface Settings {
  theme: ThemeName;
  fontSize: number;
  screenReader: boolean;
  /** What others see us as; empty: whatever the server makes up. */
  name: string;
}

export const FONT_SIZES = { least: 8, most: 32, usual: 14 } as const;
const SETTINGS = "hawse.settings";
const TOKEN = "hawse.token";
const VIEWER = "hawse.viewer";

export function loadSettings(storage: () => Storage, systemTheme: ThemeName): Settings {
  const found = parse(attempt(() => storage().getItem(SETTINGS)));
  return {
    theme: found.theme === "light" || found.theme === "dark" ? found.theme : systemTheme,
    fontSize: clampFontSize(Number(found.fontSize) || FONT_SIZES.usual),
    screenReader: found.screenReader === true,
    name: typeof found.name === "string" ? found.name.slice(0, 40) : "",
  };
}

export function saveSettings(storage: () => Storage, settings: Settings): void {
  attempt(() => storage().setItem(SETTINGS, JSON.stringify(settings)));
}

export function loadToken(storage: () => Storage): string | undefined {
  return attempt(() => storage().getItem(TOKEN)) || undefined;
}

export function saveToken(storage: () => Storage, token: string | undefined): void {
  attempt(() => (token ? storage().setItem(TOKEN, token) : storage().removeItem(TOKEN)));
}

/** Names this tab's viewer across reloads. */
export function loadViewerKey(storage: () => Storage): string {
  const known = attempt(() => storage().getItem(VIEWER));
  if (known && known.length <= 64) return known;
  const key = randomId();
  attempt(() => storage().setItem(VIEWER, key));
  return key;
}

export function clampFontSize(size: number): number {
  return Math.min(FONT_SIZES.most, Math.max(FONT_SIZES.least, Math.round(size)));
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

function parse(text: string | null | undefined): Record<string, unknown> {
  const value: unknown = attempt(() => JSON.parse(text ?? ""));
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
