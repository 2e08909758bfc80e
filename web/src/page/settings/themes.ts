// The terminal's colours. The page's own colours are in style/base.css and must match these.

import type { ITheme } from "@xterm/xterm";
import type { Settings, ThemeName } from "./settings";

const FONTS =
  '"JetBrains Mono", ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

export const THEMES: Record<ThemeName, ITheme> = {
  dark: {
    background: "#0e131a",
    foreground: "#d7dee8",
    cursor: "#d7dee8",
    cursorAccent: "#0e131a",
    selectionBackground: "#2b5a60",
    selectionInactiveBackground: "#283540",
    black: "#232c38",
    red: "#f2777a",
    green: "#7fd18b",
    yellow: "#e8c26a",
    blue: "#6aa7f5",
    magenta: "#c792ea",
    cyan: "#5ad1c8",
    white: "#c3ccd8",
    brightBlack: "#6b7889",
    brightRed: "#ff9a9c",
    brightGreen: "#a3e3ac",
    brightYellow: "#f6d98c",
    brightBlue: "#94c1ff",
    brightMagenta: "#dcb3f7",
    brightCyan: "#8be6df",
    brightWhite: "#f3f6fa",
    scrollbarSliderBackground: "#8fa3b82e",
    scrollbarSliderHoverBackground: "#8fa3b855",
    scrollbarSliderActiveBackground: "#8fa3b877",
  },
  light: {
    background: "#fbfcfd",
    foreground: "#1f2933",
    cursor: "#1f2933",
    cursorAccent: "#fbfcfd",
    selectionBackground: "#b9e0e2",
    selectionInactiveBackground: "#dde5ea",
    black: "#1f2933",
    red: "#c22f3d",
    green: "#1f7a3d",
    yellow: "#8a6100",
    blue: "#1f5fbf",
    magenta: "#8a3ab0",
    cyan: "#0d7480",
    white: "#c6ced7",
    brightBlack: "#5d6a78",
    brightRed: "#d64a56",
    brightGreen: "#2f9450",
    brightYellow: "#a77a10",
    brightBlue: "#3b7de0",
    brightMagenta: "#a457c8",
    brightCyan: "#1d919d",
    brightWhite: "#eef1f4",
    scrollbarSliderBackground: "#3448602b",
    scrollbarSliderHoverBackground: "#34486050",
    scrollbarSliderActiveBackground: "#34486070",
  },
};

/** Backgrounds for the matches and the active match; text in the theme's colours is readable on them. */
export const SEARCH_COLORS: Record<ThemeName, { match: string; active: string }> = {
  dark: { match: "#5c4b18", active: "#9a4514" },
  light: { match: "#f3e3a1", active: "#f5b27a" },
};

/** Minimum contrast ratio. Programs choose colours without knowing the background, so xterm adjusts unreadable ones. */
export const CONTRAST: Record<ThemeName, number> = { dark: 3, light: 4.5 };

/** Returns the user's colours and font as xterm.js options. `name` is the page theme. */
export function appearance(
  settings: Pick<Settings, ThemeName | "font">,
  name: ThemeName,
): { theme: ITheme; minimumContrastRatio: number; fontFamily: string } {
  const { font } = settings;
  return {
    theme: { ...THEMES[name], ...settings[name]?.colors },
    minimumContrastRatio: CONTRAST[name],
    fontFamily: font ? `"${font}", ${FONTS}` : FONTS,
  };
}
