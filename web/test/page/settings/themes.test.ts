import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { appearance, CONTRAST, SEARCH_COLORS, THEMES } from "../../../src/page/settings/themes";

const CSS = readFileSync(new URL("../../../src/page/style/base.css", import.meta.url), "utf8");

test.each(["dark", "light"] as const)("the %s theme has the page's background and text colours", name => {
  const variable = (key: string) =>
    new RegExp(`--${key}: light-dark\\((?<light>#[0-9a-f]+), (?<dark>#[0-9a-f]+)\\)`).exec(CSS)?.groups?.[
      name
    ];
  const { background, foreground, cursor } = THEMES[name];
  expect([background, foreground, cursor]).toEqual([variable("surface"), variable("text"), variable("text")]);
});

/** Relative luminance (WCAG 2) of `#rrggbb`. */
function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map(at => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

test.each(["dark", "light"] as const)("matches of a search are readable in the %s theme", name => {
  const text = luminance(String(THEMES[name].foreground));
  for (const color of Object.values(SEARCH_COLORS[name])) {
    const [lower = 0, upper = 0] = [text, luminance(color)].sort((one, other) => one - other);
    expect((upper + 0.05) / (lower + 0.05)).toBeGreaterThanOrEqual(4.5);
  }
});

test("the chosen colours and font replace the page's own", () => {
  const light = { name: "Mine", colors: { background: "#fffff0" } };
  const chosen = { dark: undefined, light, font: "Fira Code" };
  const found = appearance(chosen, "light");
  expect(found.theme).toEqual({ ...THEMES.light, background: "#fffff0" });
  expect(found.fontFamily).toMatch(/^"Fira Code", "JetBrains Mono", /);
  expect(found.minimumContrastRatio).toBe(CONTRAST.light);
  expect(appearance({ ...chosen, font: "" }, "dark")).toMatchObject({ theme: THEMES.dark });
});
