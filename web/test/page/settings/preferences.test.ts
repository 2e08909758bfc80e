import { expect, test } from "vitest";
import {
  DEFAULTS,
  loadPreferences,
  MAX_SCHEMES,
  PreferencesStore,
} from "../../../src/page/settings/preferences";

function memory(text?: string): Storage {
  const map = new Map(text === undefined ? [] : [["hawse.terminal", text]]);
  return {
    getItem: (key: string) => map.get(key) ?? null,
    setItem: (key: string, value: string) => void map.set(key, value),
  } as unknown as Storage;
}

test("a change is stored and found by the next page", () => {
  const storage = memory();
  const scheme = { name: "Mine", colors: { background: "#000000" } };
  new PreferencesStore(() => storage).update({ copyOnSelect: true, rightClick: "paste", schemes: [scheme] });
  const expected = { ...DEFAULTS, copyOnSelect: true, rightClick: "paste", schemes: [scheme] };
  expect(loadPreferences(() => storage)).toEqual(expected);
});

test.each(["", "[", "null", "7", '{"images":"no","rightClick":"x","clipboard":1,"schemes":{}}'])(
  "the stored text %j has the defaults",
  text => expect(loadPreferences(() => memory(text))).toEqual(DEFAULTS),
);

test("stored schemes that are not valid are left out, and too many", () => {
  const schemes = [
    { name: "bad", colors: { red: "red; }" } },
    ...Array.from({ length: MAX_SCHEMES + 3 }, (_, n) => ({ name: `${n}`, colors: { red: "#112233" } })),
  ];
  const found = loadPreferences(() => memory(JSON.stringify({ schemes })));
  expect(found.schemes.map(({ name }) => name)).toEqual(
    Array.from({ length: MAX_SCHEMES }, (_, n) => `${n + 3}`),
  );
});

test("a change holds without storage", () => {
  const store = new PreferencesStore(() => {
    throw new Error("SecurityError");
  });
  store.update({ images: false });
  expect(store.value.images).toBe(false);
});
