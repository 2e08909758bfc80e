import { expect, test } from "vitest";
import type { ThemeName } from "../../../src/page/settings/settings";
import { PageTheme } from "../../../src/page/settings/theme";

class FakeSystem extends EventTarget {
  matches: boolean;

  constructor(theme: ThemeName) {
    super();
    this.matches = theme === "light";
  }

  set(theme: ThemeName): void {
    this.matches = theme === "light";
    this.dispatchEvent(new Event("change"));
  }
}

function make(systemTheme: ThemeName, chosen?: ThemeName) {
  const system = new FakeSystem(systemTheme);
  const root = { dataset: {} as DOMStringMap };
  const theme = new PageTheme(root, system, chosen);
  const changes: ThemeName[] = [];
  theme.onChange(name => changes.push(name));
  return { system, root, theme, changes };
}

test("without a choice the page follows the system and its changes", () => {
  const { system, root, theme, changes } = make("light");
  expect([theme.current, theme.chosen, root.dataset.theme]).toEqual(["light", undefined, undefined]);
  system.set("dark");
  expect([theme.current, changes]).toEqual(["dark", ["dark"]]);
});

test("a chosen theme overrides the system and its changes", () => {
  const { system, root, theme, changes } = make("light", "dark");
  expect([theme.current, root.dataset.theme]).toEqual(["dark", "dark"]);
  system.set("dark");
  system.set("light");
  expect([theme.current, changes]).toEqual(["dark", []]);
});

test("toggling chooses the other theme, and toggling back to the system's follows the system again", () => {
  const { system, root, theme, changes } = make("dark");
  theme.toggle();
  expect([theme.current, theme.chosen, root.dataset.theme]).toEqual(["light", "light", "light"]);
  theme.toggle();
  expect([theme.current, theme.chosen, root.dataset.theme]).toEqual(["dark", undefined, undefined]);
  system.set("light");
  expect(changes).toEqual(["light", "dark", "light"]);
});

test("after dispose the system's changes have no effect", () => {
  const { system, theme, changes } = make("dark");
  theme.dispose();
  system.set("light");
  expect(changes).toEqual([]);
});

test("the chosen theme wins over the system's", () => {
  const { theme, changes } = make("dark");
  theme.choose("light");
  theme.choose(undefined);
  expect([theme.current, theme.chosen, changes]).toEqual(["dark", undefined, ["light", "dark"]]);
});
