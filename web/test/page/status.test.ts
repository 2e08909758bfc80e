import { expect, test, vi } from "vitest";
import { failureTitle, LINK_ENDED, type StatusInput, signedOutOf, statusOf } from "../../src/page/status";
import { HawseError } from "../../src/wire/errors";

const live: StatusInput = {
  connection: { phase: "live" },
  terminal: { phase: "live" },
  online: true,
  now: 0,
  time: 0,
  connectedBefore: true,
  readOnly: false,
};
const waiting = (retryAt: number): StatusInput["connection"] => ({
  phase: "waiting",
  attempt: 3,
  since: 0,
  retryAt,
  reason: new HawseError("unavailable", ""),
});

test("live needs both the connection and the terminal", () => {
  expect(statusOf(live)).toMatchObject({ kind: "live", label: "Live" });
  expect(statusOf({ ...live, terminal: { phase: "attaching" } }).kind).toBe("reconnecting");
  expect(statusOf({ ...live, terminal: { phase: "attaching" }, connectedBefore: false }).kind).toBe(
    "connecting",
  );
});

test("a long delay shows a countdown, a short one does not", () => {
  const attaching = { ...live, terminal: { phase: "attaching" } } as const;
  expect(statusOf({ ...attaching, connection: waiting(7_200) }).label).toBe("Reconnecting in 8 s");
  expect(statusOf({ ...attaching, connection: waiting(50) }).label).toBe("Reconnecting");
  expect(statusOf({ ...attaching, connection: waiting(7_200), connectedBefore: false }).label).toBe(
    "Retrying in 8 s",
  );
  expect(statusOf({ ...attaching, connection: waiting(7_200), online: false }).kind).toBe("offline");
});

const LOST = new Date("2026-11-26T10:42:30").getTime();

test.each([
  ["soon", { after: 9_000 }, "Reconnecting in 5 s. Your input is kept."],
  ["later", { after: 11_000 }, "Disconnected since 10:42. Reconnecting in 5 s. Your input is kept."],
  [
    "after a minute",
    { after: 61_000 },
    "Disconnected since 10:42. Reconnecting in 5 s. Your input is kept. " +
      "Check your network, and whether the gateway is running.",
  ],
  ["offline", { after: 61_000, online: false }, "No network since 10:42. Your input is kept."],
  [
    "never connected",
    { after: 61_000, connectedBefore: false },
    "No answer since 10:42. Retrying in 5 s. Check your network, and whether the gateway is running.",
  ],
])("a lost connection is described: %s", (_, { after, ...input }, text) => {
  vi.spyOn(Date.prototype, "toLocaleTimeString").mockReturnValue("10:42");
  const lost = { ...waiting(4_200), since: LOST };
  expect(statusOf({ ...live, ...input, time: LOST + after, connection: lost }).text).toBe(text);
  vi.restoreAllMocks();
});

test("during an attempt, the time of the loss is still shown", () => {
  const connection = { phase: "connecting", attempt: 9, since: LOST } as const;
  const { text } = statusOf({ ...live, time: LOST + 61_000, connection });
  expect(text).toMatch(/^Disconnected since .*\. Reconnecting\. Your input is kept\. Check your network/);
});

test("the end of a shell shows its exit code or signal", () => {
  const exited = (exit: object) =>
    statusOf({ ...live, terminal: { phase: "ended", why: "exited", exit } }).text;
  expect(exited({ code: 0, signal: null })).toBe("exited with code 0");
  expect(exited({ code: null, signal: "SIGKILL" })).toBe("killed by SIGKILL");
  expect(statusOf({ ...live, terminal: { phase: "ended", why: "replaced" } }).text).toContain(
    "Another viewer started a new shell",
  );
});

test("a viewer of a missing terminal is informed that an owner has to start it", () => {
  const missing: StatusInput = { ...live, terminal: { phase: "ended", why: "gone" } };
  expect(statusOf(missing).text).toBe("This terminal does not exist");
  expect(statusOf({ ...missing, readOnly: true }).text).toBe(
    "This terminal does not exist; only an owner can start it",
  );
});

test("failures take precedence and have a description", () => {
  const reason = new HawseError("origin_denied", "origin not allowed");
  expect(statusOf({ ...live, connection: { phase: "failed", reason } })).toMatchObject({
    kind: "failed",
    error: reason,
  });
  expect(statusOf({ ...live, terminal: { phase: "failed", reason } }).kind).toBe("failed");
  expect(statusOf({ ...live, connection: { phase: "signed-out" } })).toMatchObject({
    kind: "signed-out",
    text: "",
  });
});

test("whoever is signed out reads why, and a guest that the link has ended", () => {
  const reason = new HawseError("unauthenticated", "expired");
  const out = statusOf({ ...live, connection: { phase: "signed-out", reason } });
  expect(signedOutOf(out, "token").text).toContain("rejected this token");
  expect(signedOutOf(out, "session").text).toBe("Your session has ended. Sign in again.");
  const never = statusOf({ ...live, connection: { phase: "signed-out" } });
  for (const status of [out, never])
    expect(signedOutOf(status, "link")).toMatchObject({
      label: "Link ended",
      text: `This link has ended. ${LINK_ENDED}`,
      linkEnded: true,
    });
  expect(signedOutOf(never, "session").text).toBe("");
  expect(signedOutOf(statusOf(live), "link")).toEqual(statusOf(live));
});

test("a sandbox that is being started is said to be", () => {
  const attaching: StatusInput = { ...live, terminal: { phase: "detached" }, connectedBefore: false };
  expect(statusOf(attaching).text).toBe("Connecting");
  expect(statusOf({ ...attaching, starting: { phase: "starting" } }).text).toBe("Starting the sandbox");
  expect(statusOf({ ...attaching, starting: { phase: "pulling", progress: 0.4 } }).text).toBe(
    "Starting the sandbox: pulling 40 %",
  );
  expect(statusOf({ ...live, starting: { phase: "pulling" } }).kind).toBe("live");
});

test.each([
  [new HawseError("stopped", "", { details: { reason: "stopped by Grace" } }), "box was stopped by Grace"],
  [new HawseError("stopped", ""), "Something went wrong"],
  [new HawseError("internal", "", { details: { reason: "x" } }), "Something went wrong"],
  [undefined, "Something went wrong"],
])("the title of %o is %s", (error, title) => expect(failureTitle(error, "box")).toBe(title));
