import { expect, test } from "vitest";
import { matching } from "../../src/frame/palette";

const entries = ["New terminal", "Split right", "Split down", "Copy view-only link"].map(label => ({
  id: label,
  label,
  group: "Test",
  run: () => {},
}));
const found = (text: string) => matching(entries, text).map(({ label }) => label);

test("without text all commands are shown in their order", () => {
  expect(found("  ")).toHaveLength(4);
});

test("a part of the words finds a command, also with a mistyped letter and in another order", () => {
  expect(found("spl")).toEqual(["Split down", "Split right"]);
  expect(found("splt down")).toEqual(["Split down"]);
  expect(found("terminal new")).toEqual(["New terminal"]);
  expect(found("zzz")).toEqual([]);
});
