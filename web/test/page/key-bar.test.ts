import { expect, test } from "vitest";
import { keySequence, withControl } from "../../src/page/key-bar";

test("Ctrl makes control characters of what has them, and leaves the rest", () => {
  expect([..."cCz[ ?"].map(withControl)).toEqual(["\x03", "\x03", "\x1a", "\x1b", "\0", "\x7f"]);
  expect(["1", "é", "ab", ""].map(withControl)).toEqual(["1", "é", "ab", ""]);
});

test("arrows are as the program has asked for them", () => {
  expect(keySequence("ArrowUp", { control: false, applicationCursor: false })).toBe("\x1b[A");
  expect(keySequence("ArrowUp", { control: false, applicationCursor: true })).toBe("\x1bOA");
  expect(keySequence("ArrowLeft", { control: true, applicationCursor: true })).toBe("\x1b[1;5D");
  expect(keySequence("Escape", { control: false, applicationCursor: false })).toBe("\x1b");
});
