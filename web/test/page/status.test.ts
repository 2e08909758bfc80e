import { expect, test } from "vitest";
import { type Circumstances, statusOf } from "../../src/page/status";
import { HawseError } from "../../src/wire/errors";

const live: Circumstances = {
  line: { phase: "live" },
  terminal: { phase: "live" },
  online: true,
  now: 0,
  connectedBefore: true,
};
const waiting = (retryAt: number): Circumstances["line"] => ({
  phase: "waiting",
  attempt: 3,
  retryAt,
  reason: new HawseError("unavailable", ""),
});

test("live needs both the line and the terminal", () => {
  expect(statusOf(live)).toMatchObject({ mood: "live", label: "Live" });
  expect(statusOf({ ...live, terminal: { phase: "attaching" } }).mood).toBe("reconnecting");
  expect(statusOf({ ...live, terminal: { phase: "attaching" }, connectedBefore: false }).mood).toBe(
    "connecting",
  );
});

test("a long wait is counted down, a short one is not", () => {
  const attaching = { ...live, terminal: { phase: "attaching" } } as const;
  expect(statusOf({ ...attaching, line: waiting(7_200) }).label).toBe("Reconnecting in 8 s");
  expect(statusOf({ ...attaching, line: waiting(50) }).label).toBe("Reconnecting");
  expect(statusOf({ ...attaching, line: waiting(7_200), connectedBefore: false }).label).toBe(
    "Retrying in 8 s",
  );
  expect(statusOf({ ...attaching, line: waiting(7_200), online: false }).mood).toBe("offline");
});

test("an end is told with its code or its signal", () => {
  const exited = (exit: object) =>
    statusOf({ ...live, terminal: { phase: "ended", why: "exited", exit } }).text;
  expect(exited({ code: 0, signal: null })).toBe("exited with code 0");
  expect(exited({ code: null, signal: "SIGKILL" })).toBe("killed by SIGKILL");
  expect(statusOf({ ...live, terminal: { phase: "ended", why: "replaced" } }).text).toContain("elsewhere");
});

test("failures come before all else, in words", () => {
  const reason = new HawseError("origin_denied", "origin not allowed");
  expect(statusOf({ ...live, line: { phase: "failed", reason } })).toMatchObject({
    mood: "failed",
    error: reason,
  });
  expect(statusOf({ ...live, terminal: { phase: "failed", reason } }).mood).toBe("failed");
  expect(statusOf({ ...live, line: { phase: "signed-out" } })).toMatchObject({
    mood: "signed-out",
    text: "",
  });
});
