import { expect, test } from "vitest";
import { clampFontSize, loadSettings, loadToken, saveSettings, saveToken } from "../../src/page/settings";

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
  const usual = { theme: "light", fontSize: 14, screenReader: false, name: "" };
  expect(loadSettings(() => storage, "light")).toEqual(usual);
  const mine = { theme: "dark", fontSize: 20, screenReader: true, name: "Ada" } as const;
  saveSettings(() => storage, mine);
  expect(loadSettings(() => storage, "light")).toEqual(mine);
});

test("invalid stored values are ignored", () => {
  const storage = memory();
  for (const text of ["", "[", "null", '{"theme":"pink","fontSize":"big","screenReader":1,"name":{}}']) {
    storage.setItem("hawse.settings", text);
    const usual = { theme: "dark", fontSize: 14, screenReader: false, name: "" };
    expect(loadSettings(() => storage, "dark")).toEqual(usual);
  }
  expect([clampFontSize(1), clampFontSize(99)]).toEqual([8, 32]);
});

test("a forbidden storage behaves like an empty one", () => {
  const forbidden = () => {
    throw new Error("SecurityError");
  };
  expect(loadToken(forbidden)).toBeUndefined();
  saveToken(forbidden, "x");
  expect(loadSettings(forbidden, "dark").theme).toBe("dark");
});
