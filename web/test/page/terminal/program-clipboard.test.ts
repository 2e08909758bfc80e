import { afterEach, expect, test, vi } from "vitest";
import { describe, textToCopy } from "../../../src/page/terminal/program-clipboard";

afterEach(() => void vi.unstubAllGlobals());

const encoded = (text: string) => Buffer.from(text).toString("base64");

test("a sequence that copies has its text", () => {
  expect(textToCopy(`c;${encoded("héllo\n")}`)).toBe("héllo\n");
  expect(textToCopy(`;${encoded("x")}`)).toBe("x");
  expect(textToCopy(`pc;${encoded("x").slice(0, 2)}\n==`)).toBe("x");
});

test.each(["c;?", "c;", "c", "", "x;eA==", "c;eA==;eA==", "c;====", "c;/w==", `c;${"A".repeat(1_500_000)}`])(
  "%.20j copies nothing",
  data => expect(textToCopy(data)).toBeUndefined(),
);

test("copied text is described in one short line", () => {
  expect(describe("git push\n")).toBe("“git push”");
  expect(describe(`a\u001b[31m${"b".repeat(2_000)}`)).toBe(`“a [31m${"b".repeat(17)}…” (2,006 characters)`);
});
