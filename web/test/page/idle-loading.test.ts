import { signal } from "@preact/signals";
import { expect, test } from "vitest";
import type { RailState } from "../../src/frame/rail";
import { rememberRail } from "../../src/page/idle-loading";

const closed = (): RailState => ({ open: signal(false), view: signal("") });

function storage(values: Record<string, string> = {}) {
  const map = new Map(Object.entries(values));
  return {
    getItem: (key: string) => map.get(key) ?? null,
    setItem: (key: string, value: string) => void map.set(key, value),
    removeItem: (key: string) => void map.delete(key),
  } as Storage;
}

test("the rail is as it was before a reload, also without a view", () => {
  const kept = storage();
  const before = closed();
  rememberRail(before, () => kept, 1024);
  before.open.value = true;
  const bare = closed();
  rememberRail(bare, () => kept, 1024);
  expect([bare.open.value, bare.view.value]).toEqual([true, ""]);
  before.view.value = "files";
  const after = closed();
  rememberRail(after, () => kept, 1024);
  expect([after.open.value, after.view.value, after.restored]).toEqual([true, "files", true]);
  after.view.value = "ports"; // by the user
  expect(after.restored).toBe(false);
  after.open.value = false;
  const last = closed();
  rememberRail(last, () => kept, 1024);
  expect(last.open.value).toBe(false);
});

test("the rail stays closed where it would cover the panes, and one that is open stays as it is", () => {
  const narrow = closed();
  rememberRail(narrow, () => storage({ "hawse.rail": "files" }), 390);
  expect(narrow.open.value).toBe(false);
  const shown = { open: signal(true), view: signal("ports") };
  rememberRail(shown, () => storage({ "hawse.rail": "files" }), 1024);
  expect(shown.view.value).toBe("ports");
});

test("a storage that is forbidden changes nothing", () => {
  const rail = closed();
  const forbidden = () => {
    throw new Error("forbidden");
  };
  rememberRail(rail, forbidden, 1024);
  rail.open.value = true;
  expect(rail.open.value).toBe(true);
});
