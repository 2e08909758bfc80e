import { expect, test } from "vitest";
import { describeLines } from "../../../src/page/terminal/paste-lines";

test.each([
  ["ls\n", "1 line and its end"],
  ["a\rb", "2 lines"],
  ["a\r\nb\r\n", "2 lines"],
  ["\n\n", "2 lines"],
])("the lines of %j: %s", (text, expected) => expect(describeLines(text)).toBe(expected));
