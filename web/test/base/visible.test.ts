import { expect, test } from "vitest";
import { visible, visibleLines } from "../../src/base/visible";

test.each([
  ["read me – ü 日本 👩‍🚀.txt", "read me – ü 日本 👩‍🚀.txt"],
  ["invoice\u202egnp.exe", "invoice�gnp.exe"],
  ["a\nb\tc\u001b[31m", "a�b�c�[31m"],
  ["\u2066x\u2069", "�x�"],
  ["ma\u200bin\ufeff", "ma�in�"],
  [
    "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
  ],
])("the name %j is shown as %j", (name, shown) => {
  expect(visible(name)).toBe(shown);
});

test("text of several lines keeps its line ends and tabs", () => {
  expect(visibleLines("a\n\tb\u202e\u001b[31m")).toBe("a\n\tb��[31m");
});
