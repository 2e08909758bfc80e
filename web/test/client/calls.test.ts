import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeHarness } from "../fakes/harness";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns the outcome of `promise` once it has one. */
function watch(promise: Promise<unknown>): { outcome: unknown } {
  const watched: { outcome: unknown } = { outcome: "pending" };
  promise.then(
    value => (watched.outcome = { value }),
    error => (watched.outcome = { code: error.code, admitted: error.admitted }),
  );
  return watched;
}

test("a call waits for a connection and returns its result", async () => {
  const { gateway, client, runUntilIdle } = makeHarness();
  gateway.respond = call => ({ value: { method: call.method } });
  const call = watch(client.call("runtime.info", {}, { sandbox: "local" }));
  client.connect();
  await runUntilIdle();
  expect(call.outcome).toEqual({ value: { method: "runtime.info" } });
  expect(gateway.calls[0]).toMatchObject({ method: "runtime.info", sandbox: "local", params: {} });
});

test("a typed error is thrown unchanged", async () => {
  const { gateway, client, runUntilIdle } = makeHarness();
  const error = { code: "not_found", message: "no such thing", retryable: false, admitted: "no" };
  gateway.respond = () => ({ error });
  client.connect();
  const call = watch(client.call("terminal.get", { id: "x" }));
  await runUntilIdle();
  expect(call.outcome).toEqual({ code: "not_found", admitted: "no" });
});

test("a call without a key fails with interrupted and is never repeated", async () => {
  const { gateway, client, runUntilIdle } = makeHarness();
  gateway.respond = () => undefined;
  client.connect();
  await runUntilIdle();
  const call = watch(client.call("exec", { command: "rm x" }));
  await runUntilIdle();
  gateway.socket.cut();
  await runUntilIdle(1_000);
  expect(call.outcome).toEqual({ code: "interrupted", admitted: "unknown" });
  expect(gateway.calls).toHaveLength(1);
});

test("a call with a key is repeated unchanged until it has an outcome", async () => {
  const { gateway, client, runUntilIdle } = makeHarness();
  gateway.respond = () => undefined;
  client.connect();
  await runUntilIdle();
  const call = watch(client.call("exec", { command: "rm x" }, { key: "k" }));
  await runUntilIdle();
  for (let cut = 0; cut < 3; cut++) {
    gateway.socket.cut();
    await runUntilIdle(2_000);
  }
  gateway.respond = () => ({ value: "done" });
  gateway.socket.cut();
  await runUntilIdle(5_000);
  expect(call.outcome).toEqual({ value: "done" });
  expect(gateway.calls.length).toBeGreaterThanOrEqual(5);
  const [first, ...repeats] = gateway.calls;
  expect(first).not.toHaveProperty("age");
  let age = 0;
  for (const repeat of repeats) {
    expect(repeat.age).toBeGreaterThan(age);
    age = repeat.age as number;
    expect({ ...repeat, ch: 0 }).toEqual({ ...first, ch: 0, age });
  }
});

test("a call with a key survives a sandbox that is unavailable for a while", async () => {
  const { gateway, client, runUntilIdle } = makeHarness();
  const error = { code: "unavailable", message: "", retryable: true, admitted: "no" };
  gateway.respond = () => ({ error });
  client.connect();
  const call = watch(client.call("terminal.create", { id: "main" }, { key: "k" }));
  await runUntilIdle(300);
  expect(call.outcome).toBe("pending");
  gateway.respond = () => ({ value: 1 });
  await runUntilIdle(15_000);
  expect(call.outcome).toEqual({ value: 1 });
});

test("a timeout includes the wait for a connection, and the server receives the remaining time", async () => {
  const { gateway, client, runUntilIdle } = makeHarness();
  gateway.respond = () => undefined;
  const call = watch(client.call("exec", { command: "true" }, { timeout: 5, key: "k" }));
  await runUntilIdle(2_000);
  client.connect();
  await runUntilIdle(100);
  expect(gateway.calls[0]?.timeout).toBeLessThanOrEqual(3);
  await runUntilIdle(5_000);
  expect(call.outcome).toEqual({ code: "deadline_exceeded", admitted: "unknown" });
});

test("closing the client fails every pending call", async () => {
  const { client, runUntilIdle } = makeHarness();
  const call = watch(client.call("runtime.info", {}, { key: "k" }));
  client.close();
  await runUntilIdle();
  expect(call.outcome).toEqual({ code: "cancelled", admitted: "no" });
  const late = watch(client.call("runtime.info"));
  await runUntilIdle();
  expect(late.outcome).toEqual({ code: "cancelled", admitted: "no" });
});

test("after a retry of a failed connection, calls wait again", async () => {
  const { gateway, client, runUntilIdle } = makeHarness();
  client.connect();
  await runUntilIdle();
  gateway.socket.cut(1008);
  const early = watch(client.call("runtime.info"));
  await runUntilIdle();
  expect(early.outcome).toMatchObject({ code: "protocol_error" });
  client.retryNow();
  const late = watch(client.call("runtime.info"));
  await runUntilIdle();
  expect(late.outcome).toEqual({ value: {} });
});

test("a call that was never sent fails when there is no connection in time, and one that was sent waits longer", async () => {
  const { gateway, client, runUntilIdle } = makeHarness({ connectTimeout: 10 });
  gateway.respond = () => undefined;
  client.connect();
  await runUntilIdle();
  const sent = watch(client.call("exec", { command: "make" }, { key: "k" }));
  await runUntilIdle();
  gateway.refuse = true;
  gateway.socket.cut();
  const late = watch(client.call("exec", { command: "make" }, { key: "l" }));
  await runUntilIdle(9_900);
  expect(late.outcome).toBe("pending");
  await runUntilIdle(200);
  expect(late.outcome).toEqual({ code: "unavailable", admitted: "no" });
  await runUntilIdle(60_000);
  expect(sent.outcome).toBe("pending");
  gateway.refuse = false;
  gateway.respond = () => ({ value: 1 });
  await runUntilIdle(15_000);
  expect(sent.outcome).toEqual({ value: 1 });
});

test("a date that is set back does not make a repetition younger", async () => {
  const { gateway, client, runUntilIdle } = makeHarness();
  gateway.respond = () => undefined;
  client.connect();
  await runUntilIdle();
  void watch(client.call("exec", { command: "rm x" }, { key: "k" }));
  await runUntilIdle(20_000);
  vi.setSystemTime(Date.now() - 3_600_000);
  gateway.socket.cut();
  await runUntilIdle(1_000);
  expect(gateway.calls[1]?.age).toBeGreaterThanOrEqual(20);
  expect(gateway.calls[1]?.age).toBeLessThan(25);
});

test("a date that is changed does not change a time-out", async () => {
  const { gateway, client, runUntilIdle } = makeHarness();
  const call = watch(client.call("exec", { command: "true" }, { timeout: 5, key: "k" }));
  vi.setSystemTime(Date.now() - 3_600_000);
  client.connect();
  await runUntilIdle(100);
  expect(gateway.calls[0]?.timeout).toBeLessThanOrEqual(5);
  expect(call.outcome).toEqual({ value: {} });
});

test("a sandbox that stays unavailable fails the call after a time", async () => {
  const { gateway, client, runUntilIdle } = makeHarness({ unavailableGiveUp: 30 });
  const error = { code: "unavailable", message: "", retryable: true, admitted: "no" };
  gateway.respond = () => ({ error });
  client.connect();
  const call = watch(client.call("terminal.create", { id: "main" }, { key: "k" }));
  await runUntilIdle(29_000);
  expect(call.outcome).toBe("pending");
  await runUntilIdle(12_000);
  expect(call.outcome).toEqual({ code: "unavailable", admitted: "no" });
});

test("a call whose parameters cannot be sent fails alone, also if it has waited", async () => {
  const { gateway, client, runUntilIdle } = makeHarness();
  const circle: { self?: object } = {};
  circle.self = circle;
  const bad = watch(client.call("exec", { command: circle as never }));
  const large = watch(client.call("exec", { command: "é".repeat(600_000) }));
  const good = watch(client.call("exec", { command: "true" }));
  client.connect();
  await runUntilIdle();
  expect(bad.outcome).toEqual({ code: "invalid_params", admitted: "no" });
  expect(large.outcome).toEqual({ code: "too_large", admitted: "no" });
  expect(good.outcome).toEqual({ value: {} });
  expect(gateway.violations).toEqual([]);
  expect(gateway.calls).toHaveLength(1);
});

test("a time-out of years is not one of milliseconds", async () => {
  const { client, runUntilIdle } = makeHarness();
  client.connect();
  const call = watch(client.call("exec", { command: "true" }, { timeout: 1e8 }));
  await runUntilIdle();
  expect(call.outcome).toEqual({ value: {} });
});
