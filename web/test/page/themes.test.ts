import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { THEMES } from "../../src/page/themes";

const CSS = readFileSync(new URL("../../src/page/style/base.css", import.meta.url), "utf8");

test.each(["dark", "light"] as const)("the %s theme has the page's background and text colours", name => {
  const rules = CSS.slice(CSS.indexOf(`:root[data-theme="${name}"]`));
  const variable = (key: string) => new RegExp(`--${key}: (#[0-9a-f]+)`).exec(rules)?.[1];
  const { background, foreground, cursor } = THEMES[name];
  expect([background, foreground, cursor]).toEqual([
    variable("surface"),
    variable("text"),
    variable("accent"),
  ]);
});
