import { expect, test } from "vitest";
import { type Click, effectOf } from "../../../src/page/terminal/mouse";

const CLICK: Click = {
  setting: "platform",
  platform: "Linux x86_64",
  tracked: false,
  shift: false,
  selected: false,
};

test.each([
  [{}, "menu"],
  [{ platform: "MacIntel" }, "menu"],
  [{ platform: "Win32" }, "paste"],
  [{ platform: "Win32", selected: true }, "copy"],
  [{ setting: "paste" }, "paste"],
  [{ setting: "paste", selected: true }, "copy"],
  [{ setting: "menu", platform: "Win32" }, "menu"],
  [{ setting: "browser" }, "browser"],
  [{ tracked: true }, "program"],
  [{ tracked: true, setting: "browser" }, "program"],
  [{ tracked: true, shift: true }, "menu"],
] as [Partial<Click>, string][])("a right click with %j: %s", (click, expected) =>
  expect(effectOf({ ...CLICK, ...click })).toBe(expected),
);
