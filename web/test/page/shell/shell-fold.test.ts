import { expect, test } from "vitest";
import { foldsAtFirst } from "../../../src/page/shell/shell-fold";

test("only a shell that ended without an error hides its output", () => {
  expect(foldsAtFirst({ code: 0, signal: null, timed_out: false, oom: null })).toBe(true);
  expect(foldsAtFirst({ code: 1, signal: null, timed_out: false, oom: null })).toBe(false);
  expect(foldsAtFirst({ code: null, signal: "SIGKILL", timed_out: false, oom: null })).toBe(false);
  expect(foldsAtFirst(undefined)).toBe(false);
});
