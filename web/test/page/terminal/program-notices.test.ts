import { expect, test } from "vitest";
import { noticeOf9, noticeOf777, progressOf, RateLimit } from "../../../src/page/terminal/program-notices";

test("notifications of iTerm2 and of rxvt are read, in one line and not too long", () => {
  expect(noticeOf9("done\u0007 \n now")).toEqual({ title: "", body: "done now" });
  expect(noticeOf777("notify;Build;failed; again")).toEqual({ title: "Build", body: "failed; again" });
  expect(noticeOf777("notify;Build")).toEqual({ title: "Build", body: "" });
  expect(noticeOf9("x".repeat(5_000))?.body).toHaveLength(200);
});

test.each(["", " ", "4;1;50", "1;2", "9"])("OSC 9 with %j is not a notification", data =>
  expect(noticeOf9(data)).toBeUndefined(),
);
test.each(["", "notify", "notify;;", "other;a;b"])("OSC 777 with %j is not a notification", data =>
  expect(noticeOf777(data)).toBeUndefined(),
);

test("progress has a kind and percent", () => {
  expect(progressOf("4;1;42")).toEqual({ kind: "normal", percent: 42 });
  expect(progressOf("4;2;")).toEqual({ kind: "error", percent: 0 });
  expect(progressOf("4;3")).toEqual({ kind: "busy", percent: 0 });
  expect(progressOf("4;4;900")).toEqual({ kind: "paused", percent: 100 });
  expect(progressOf("4;0;0")).toBeNull();
});

test.each(["", "4", "4;", "4;7;1", "4;1;-1", "4;1;2;3", "14;1;2"])("%j is not progress", data =>
  expect(progressOf(data)).toBeUndefined(),
);

test("three notifications in ten seconds are shown", () => {
  const limit = new RateLimit();
  expect([0, 1, 2, 3, 9_999, 10_000, 10_001, 10_002, 10_003].map(now => limit.allow(now))).toEqual([
    true,
    true,
    true,
    false,
    false,
    true,
    true,
    true,
    false,
  ]);
});
