import { expect, test } from "vitest";
import { describeFiles } from "../../../src/page/drafts/unsaved-files";

test.each([
  [["src/a.py"], "a.py"],
  [["a.py", "b.py"], "a.py and b.py"],
  [["a", "b", "c", "d"], "a, b and 2 more"],
])("%j are described as %s", (paths, expected) => expect(describeFiles(paths)).toBe(expected));
