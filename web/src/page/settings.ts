// What the page remembers: the token for this tab, the rest for this browser. Storage may be full or forbidden; then
// nothing is remembered, and that is all.

export type ThemeName = "dark" | "light";

export interface Settings {
  theme: ThemeName;
  fontSize: number;
  screenReader: boolean;
}

export const FONT_SIZES = { least: 8, most: 32, usual: 14 } as const;
const SETTINGS = "hawse.settings";
const TOKEN = "hawse.token";

export function loadSettings(storage: () => Storage, systemTheme: ThemeName): Settings {
  const found = parse(attempt(() => storage().getItem(SETTINGS)));
  return {
    theme: found.theme === "light" || found.theme === "dark" ? found.theme : systemTheme,
    fontSize: clampFontSize(Number(found.fontSize) || FONT_SIZES.usual),
    screenReader: found.screenReader === true,
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
