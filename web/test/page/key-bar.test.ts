import { expect, test } from "vitest";
import { keySequence, withControl } from "../../src/page/key-bar";

test("Ctrl produces control characters and leaves other text unchanged", () => {
  expect([..."cCz[ ?"].map(withControl)).toEqual(["\x03", "\x03", "\x1a", "\x1b", "\0", "\x7f"]);
  expect(["1", "é", "ab", ""].map(withControl)).toEqual(["1", "é", "ab", ""]);
});

test("arrow keys follow the application cursor mode", () => {
  expect(keySequence("ArrowUp", { control: false, applicationCursor: false })).toBe("\x1b[A");
  expect(keySequence("ArrowUp", { control: false, applicationCursor: true })).toBe("\x1bOA");
  expect(keySequence("ArrowLeft", { control: true, applicationCursor: true })).toBe("\x1b[1;5D");
  expect(keySequence("Escape", { control: false, applicationCursor: false })).toBe("\x1b");
});
