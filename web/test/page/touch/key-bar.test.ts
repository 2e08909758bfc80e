import { expect, test } from "vitest";
import { keySequence, repeats, withControl } from "../../../src/page/touch/key-bar";

test("Ctrl produces control characters and leaves other text unchanged", () => {
  expect([..."cCz[ ?"].map(withControl)).toEqual(["\x03", "\x03", "\x1a", "\x1b", "\0", "\x7f"]);
  expect(["1", "é", "ab", ""].map(withControl)).toEqual(["1", "é", "ab", ""]);
});

test("arrow keys follow the application cursor mode", () => {
  expect(keySequence("ArrowUp", {})).toBe("\x1b[A");
  expect(keySequence("Home", { applicationCursor: true })).toBe("\x1bOH");
});

test("keys have their modifiers", () => {
  expect(keySequence("ArrowLeft", { control: true, applicationCursor: true })).toBe("\x1b[1;5D");
  expect(keySequence("ArrowRight", { alt: true })).toBe("\x1b[1;3C");
  expect(keySequence("PageUp", {})).toBe("\x1b[5~");
  expect(keySequence("Delete", { control: true, alt: true })).toBe("\x1b[3;7~");
  expect(keySequence("Tab", { alt: true })).toBe("\x1b\t");
  expect([keySequence("Escape", {}), keySequence("Suspend", {}), keySequence("other", {})]).toEqual([
    "\x1b",
    "\x1a",
    "",
  ]);
});

test("keys that move repeat while they are held, others do not", () => {
  expect(["ArrowUp", "PageDown", "Delete", "Home"].map(repeats)).not.toContain(false);
  expect(["Escape", "Interrupt", "Control", "Paste", undefined].map(repeats)).not.toContain(true);
});
