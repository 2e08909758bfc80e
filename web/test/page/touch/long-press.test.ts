import { expect, test } from "vitest";
import { wordAt } from "../../../src/page/touch/long-press";

test.each([
  ["ls -la /etc/hosts", 8, "/etc/hosts"],
  ["ls -la /etc/hosts", 0, "ls"],
  ['say "hello" now', 6, "hello"],
  ["a b", 1, undefined],
  ["ab", 7, undefined],
])("in %j at %i", (text, column, word) => {
  const found = wordAt([...text], column);
  expect(found && text.slice(found.start, found.start + found.length)).toBe(word);
});

test("a wide character has two cells", () => {
  expect(wordAt(["x", " ", "漢", "", "字", "", "", ""], 3)).toEqual({ start: 2, length: 4 });
});
