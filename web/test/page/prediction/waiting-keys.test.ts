import { expect, test } from "vitest";
import { shownKeys } from "../../../src/page/prediction/waiting-keys";

test.each([
  ["ls -la\r", "ls -la⏎ "],
  ["lss\x7f", "ls"],
  ["\x7f\x7fa", "a"],
  ["\x03\x1a", "^C^Z"],
  ["a\x1b[A\x1bOB\x1b[1;5Cb\t", "a⎋⎋⎋b⇥"],
  ["é漢🙂\x7f", "é漢"],
  ["\x1b", "⎋"],
  ["", ""],
])("the typed text %j is shown as %j", (text, shown) => expect(shownKeys(text)).toBe(shown));
