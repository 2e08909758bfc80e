// The colour schemes available for the dark and light versions of the page. The values are from
// github.com/mbadolato/iTerm2-Color-Schemes (MIT licence).

import type { ColorScheme, ThemeName } from "./settings";

export interface SchemePair {
  readonly name: string;
  /** If undefined, the page's own colours apply. */
  readonly dark: ColorScheme | undefined;
  readonly light: ColorScheme | undefined;
}

/** Background, foreground and cursor, followed by the eight normal and the eight bright colours. */
type Rows = readonly [string, string, string];

const SOURCES: readonly (readonly [name: string, dark: Rows, light: Rows])[] = [
  [
    "Catppuccin",
    [
      "#1e1e2e #cdd6f4 #f5e0dc",
      "#45475a #f38ba8 #a6e3a1 #f9e2af #89b4fa #f5c2e7 #94e2d5 #bac2de",
      "#585b70 #f7aec2 #c2ecbf #fcd682 #aeccfc #f398da #b1eae1 #a6adc8",
    ],
    [
      "#eff1f5 #4c4f69 #dc8a78",
      "#bcc0cc #d20f39 #40a02b #df8e1d #1e66f5 #ea76cb #179299 #5c5f77",
      "#acb0be #e7103f #46b02f #e49931 #3878f6 #ef95d7 #19a1a8 #6c6f85",
    ],
  ],
  [
    "GitHub",
    [
      "#0d1117 #e6edf3 #2f81f7",
      "#484f58 #ff7b72 #3fb950 #d29922 #58a6ff #bc8cff #39c5cf #b1bac4",
      "#6e7681 #ffa198 #56d364 #e3b341 #79c0ff #d2a8ff #56d4dd #ffffff",
    ],
    [
      "#ffffff #1f2328 #0969da",
      "#24292f #cf222e #116329 #4d2d00 #0969da #8250df #1b7c83 #6e7781",
      "#57606a #a40e26 #1a7f37 #633c01 #218bff #a475f9 #3192aa #8c959f",
    ],
  ],
  [
    "Gruvbox",
    [
      "#282828 #ebdbb2 #ebdbb2",
      "#282828 #cc241d #98971a #d79921 #458588 #b16286 #689d6a #a89984",
      "#928374 #fb4934 #b8bb26 #fabd2f #83a598 #d3869b #8ec07c #ebdbb2",
    ],
    [
      "#fbf1c7 #3c3836 #3c3836",
      "#fbf1c7 #cc241d #98971a #d79921 #458588 #b16286 #689d6a #7c6f64",
      "#928374 #9d0006 #79740e #b57614 #076678 #8f3f71 #427b58 #3c3836",
    ],
  ],
  [
    "Nord",
    [
      "#2e3440 #d8dee9 #eceff4",
      "#3b4252 #bf616a #a3be8c #ebcb8b #81a1c1 #b48ead #88c0d0 #e5e9f0",
      "#596377 #bf616a #a3be8c #ebcb8b #81a1c1 #b48ead #8fbcbb #eceff4",
    ],
    [
      "#e5e9f0 #414858 #7bb3c3",
      "#3b4252 #bf616a #96b17f #c5a565 #81a1c1 #b48ead #7bb3c3 #a5abb6",
      "#4c566a #bf616a #96b17f #c5a565 #81a1c1 #b48ead #82afae #eceff4",
    ],
  ],
  [
    "One Half",
    [
      "#282c34 #dcdfe4 #a3b3cc",
      "#282c34 #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #dcdfe4",
      "#5d677a #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #dcdfe4",
    ],
    [
      "#fafafa #383a42 #a5b4e5",
      "#383a42 #e45649 #50a14f #c18401 #0184bc #a626a4 #0997b3 #bababa",
      "#4f525e #e06c75 #98c379 #d8b36e #61afef #c678dd #56b6c2 #ffffff",
    ],
  ],
  [
    "Rosé Pine",
    [
      "#191724 #e0def4 #e0def4",
      "#26233a #eb6f92 #31748f #f6c177 #9ccfd8 #c4a7e7 #ebbcba #e0def4",
      "#6e6a86 #eb6f92 #31748f #f6c177 #9ccfd8 #c4a7e7 #ebbcba #e0def4",
    ],
    [
      "#faf4ed #575279 #575279",
      "#f2e9e1 #b4637a #286983 #ea9d34 #56949f #907aa9 #d7827e #575279",
      "#9893a5 #b4637a #286983 #ea9d34 #56949f #907aa9 #d7827e #575279",
    ],
  ],
  [
    "Solarized",
    [
      "#002b36 #839496 #839496",
      "#073642 #dc322f #859900 #b58900 #268bd2 #d33682 #2aa198 #eee8d5",
      "#335e69 #cb4b16 #586e75 #657b83 #839496 #6c71c4 #93a1a1 #fdf6e3",
    ],
    [
      "#fdf6e3 #657b83 #657b83",
      "#073642 #dc322f #859900 #b58900 #268bd2 #d33682 #2aa198 #bbb5a2",
      "#002b36 #cb4b16 #586e75 #657b83 #839496 #6c71c4 #93a1a1 #fdf6e3",
    ],
  ],
  [
    "Tokyo Night",
    [
      "#1a1b26 #c0caf5 #c0caf5",
      "#15161e #f7768e #9ece6a #e0af68 #7aa2f7 #bb9af7 #7dcfff #a9b1d6",
      "#414868 #f7768e #9ece6a #e0af68 #7aa2f7 #bb9af7 #7dcfff #c0caf5",
    ],
    [
      "#e1e2e7 #3760bf #3760bf",
      "#e9e9ed #f52a65 #587539 #8c6c3e #2e7de9 #9854f1 #007197 #6172b0",
      "#a1a6c5 #f52a65 #587539 #8c6c3e #2e7de9 #9854f1 #007197 #3760bf",
    ],
  ],
];

export const HUES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
/** Proportion of blue in the background of selected text. */
const SELECTION = 0.35;

export const SCHEMES: readonly SchemePair[] = [
  { name: "Hawse", dark: undefined, light: undefined },
  ...SOURCES.map(([name, dark, light]) => ({
    name,
    dark: { name, colors: colorsOf(dark) },
    light: { name, colors: colorsOf(light) },
  })),
];

/** Returns the page theme that suits the colours. Colours are in the form `#rrggbb`. */
export function themeFor({ background = "#000000" }: ColorScheme["colors"]): ThemeName {
  const [red = 0, green = 0, blue = 0] = partsOf(background);
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128 ? "dark" : "light";
}

/** Adds the colours that a scheme needs besides the background, the foreground and the 16 ANSI colours. */
export function completed(colors: Record<string, string>): Record<string, string> {
  const { background = "#000000", foreground = "#ffffff", blue = foreground } = colors;
  const selection = mix(background, blue, SELECTION);
  return {
    cursor: foreground,
    cursorAccent: background,
    selectionBackground: selection,
    selectionInactiveBackground: mix(background, blue, SELECTION / 2),
    scrollbarSliderBackground: `${foreground}2e`,
    scrollbarSliderHoverBackground: `${foreground}55`,
    scrollbarSliderActiveBackground: `${foreground}77`,
    ...colors,
  };
}

/** Returns `over` and `under` mixed; `part` (0 to 1) is the proportion of `over`. */
export function mix(under: string, over: string, part: number): string {
  const parts = partsOf(over);
  const mixed = partsOf(under).map((value, at) => Math.round(value + ((parts[at] ?? value) - value) * part));
  return `#${mixed.map(value => value.toString(16).padStart(2, "0")).join("")}`;
}

function partsOf(color: string): number[] {
  return [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16));
}

function colorsOf([general, normal, bright]: Rows): Record<string, string> {
  const [background = "", foreground = "", cursor = ""] = general.split(" ");
  const colors: Record<string, string> = { background, foreground, cursor };
  for (const [at, value] of normal.split(" ").entries()) colors[HUES[at] ?? ""] = value;
  for (const [at, value] of bright.split(" ").entries()) colors[brightOf(HUES[at] ?? "")] = value;
  return completed(colors);
}

/** Returns the key of the bright variant: `brightRed` for `red`. */
export function brightOf(hue: string): string {
  return `bright${hue.charAt(0).toUpperCase()}${hue.slice(1)}`;
}
