import { expect, test } from "vitest";
import {
  clampFontSize,
  loadSettings,
  loadViewerKey,
  saveSettings,
  validFont,
} from "../../../src/page/settings/settings";

const DEFAULTS = {
  theme: undefined,
  dark: undefined,
  light: undefined,
  font: "",
  fontSize: 14,
  screenReader: false,
  name: "",
};

function memory(): Storage {
  const map = new Map<string, string>();
  return {
    getItem: (key: string) => map.get(key) ?? null,
    setItem: (key: string, value: string) => void map.set(key, value),
    removeItem: (key: string) => void map.delete(key),
  } as unknown as Storage;
}

test("settings are stored, and missing ones have defaults", () => {
  const storage = memory();
  const defaults = DEFAULTS;
  expect(loadSettings(() => storage)).toEqual(defaults);
  const scheme = { name: "Mine", colors: { red: "#ff0000", selectionBackground: "#00000080" } };
  const mine = {
    ...defaults,
    theme: "dark",
    dark: scheme,
    font: "Fira Code",
    fontSize: 20,
    name: "Ada",
  } as const;
  saveSettings(() => storage, mine);
  expect(loadSettings(() => storage)).toEqual(mine);
});

test("storing another setting does not store the system's theme", () => {
  const storage = memory();
  saveSettings(() => storage, { ...loadSettings(() => storage), fontSize: 20 });
  expect(JSON.parse(storage.getItem("hawse.settings") ?? "")).not.toHaveProperty("theme");
});

test("invalid stored values are ignored", () => {
  const storage = memory();
  for (const text of [
    "",
    "[",
    "null",
    '{"theme":"pink","fontSize":"big","screenReader":1,"name":{}}',
    '{"dark":7,"light":{"name":"x","colors":{"red":"red"}},"font":"a;b"}',
    '{"light":{"name":"x"}}',
  ]) {
    storage.setItem("hawse.settings", text);
    expect(loadSettings(() => storage)).toEqual(DEFAULTS);
  }
  expect([clampFontSize(1), clampFontSize(99)]).toEqual([8, 32]);
});

test("a forbidden storage behaves like an empty one", () => {
  const forbidden = () => {
    throw new Error("SecurityError");
  };
  expect(loadViewerKey(forbidden)).not.toBe(loadViewerKey(forbidden));
  expect(loadSettings(forbidden).fontSize).toBe(14);
});

test("the name of a font cannot end its quotes in a style sheet", () => {
  expect(["Fira Code", "Käse 3.0"].map(validFont)).toEqual([true, true]);
  expect(["", 'a"', "a\\", "a;b", "a}", "x".repeat(101), 7].map(validFont)).not.toContain(true);
});
