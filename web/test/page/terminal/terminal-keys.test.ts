import { expect, test } from "vitest";
import { programMayWantKeys } from "../../../src/page/terminal/terminal-keys";

interface Given {
  type?: "normal" | "alternate";
  phase?: string;
  readOnly?: boolean;
  atPrompt?: boolean;
}

function wants({ type = "normal", phase = "live", readOnly = false, atPrompt = false }: Given): boolean {
  return programMayWantKeys(
    { buffer: { active: { type } } } as never,
    { state: { phase }, people: { readOnly } } as never,
    { atPrompt },
  );
}

test("a shell that waits for a command leaves the function keys to the page", () => {
  expect(wants({ atPrompt: true })).toBe(false);
});

test("a program gets them, and so does a shell that does not report its prompts", () => {
  expect(wants({})).toBe(true);
  expect(wants({ atPrompt: true, type: "alternate" })).toBe(true);
});

test("nothing gets them where nothing can be typed", () => {
  expect(wants({ phase: "ended" })).toBe(false);
  expect(wants({ readOnly: true })).toBe(false);
});
