import { expect, test } from "vitest";
import { clampFontSize, loadSettings, loadViewerKey, saveSettings } from "../../src/page/settings";

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
  const defaults = { theme: undefined, fontSize: 14, screenReader: false, name: "" };
  expect(loadSettings(() => storage)).toEqual(defaults);
  const mine = { theme: "dark", fontSize: 20, screenReader: true, name: "Ada" } as const;
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
  for (const text of ["", "[", "null", '{"theme":"pink","fontSize":"big","screenReader":1,"name":{}}']) {
    storage.setItem("hawse.settings", text);
    const defaults = { theme: undefined, fontSize: 14, screenReader: false, name: "" };
    expect(loadSettings(() => storage)).toEqual(defaults);
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
