import { expect, test } from "vitest";
import { brightOf, completed, HUES, mix, SCHEMES, themeFor } from "../../../src/page/settings/schemes";
import { THEMES } from "../../../src/page/settings/themes";

const NAMES = Object.keys(THEMES.dark).sort();

test("there are the page's own colours and eight schemes", () => {
  expect(SCHEMES.map(({ name }) => name)).toEqual([
    "Hawse",
    "Catppuccin",
    "GitHub",
    "Gruvbox",
    "Nord",
    "One Half",
    "Rosé Pine",
    "Solarized",
    "Tokyo Night",
  ]);
});

test.each(SCHEMES.slice(1))(
  "$name has each colour, for the dark and for the light page",
  ({ dark, light }) => {
    for (const [theme, scheme] of [["dark", dark] as const, ["light", light] as const]) {
      expect(Object.keys(scheme?.colors ?? {}).sort()).toEqual(NAMES);
      for (const color of Object.values(scheme?.colors ?? {})) expect(color).toMatch(/^#([0-9a-f]{2}){3,4}$/);
      expect(themeFor(scheme?.colors ?? {})).toBe(theme);
    }
  },
);

test("missing colours of a scheme are derived from its other colours", () => {
  const colors = completed({
    background: "#000000",
    foreground: "#ffffff",
    blue: "#0000ff",
    cursor: "#ff0000",
  });
  expect(colors).toMatchObject({
    cursor: "#ff0000",
    cursorAccent: "#000000",
    selectionBackground: "#000059",
    scrollbarSliderBackground: "#ffffff2e",
  });
});

test("colours are mixed in parts", () => {
  expect([mix("#000000", "#ffffff", 0.5), mix("#102030", "#102030", 0.3)]).toEqual(["#808080", "#102030"]);
  expect([HUES.length, brightOf("red")]).toEqual([8, "brightRed"]);
});
