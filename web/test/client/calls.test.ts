import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { bench } from "../fakes/bench";

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
  const { gateway, client, settle } = bench();
  gateway.answer = call => ({ value: { method: call.method } });
  const call = watch(client.call("runtime.info", {}, { sandbox: "local" }));
  client.connect();
  await settle();
  expect(call.outcome).toEqual({ value: { method: "runtime.info" } });
  expect(gateway.calls[0]).toMatchObject({ method: "runtime.info", sandbox: "local", params: {} });
});

test("a typed error is thrown unchanged", async () => {
  const { gateway, client, settle } = bench();
  const error = { code: "not_found", message: "no such thing", retryable: false, admitted: "no" };
  gateway.answer = () => ({ error });
  client.connect();
  const call = watch(client.call("terminal.get", { id: "x" }));
  await settle();
  expect(call.outcome).toEqual({ code: "not_found", admitted: "no" });
});

test("a call without a key fails with interrupted and is never repeated", async () => {
  const { gateway, client, settle } = bench();
  gateway.answer = () => undefined;
  client.connect();
  await settle();
  const call = watch(client.call("exec", { command: "rm x" }));
  await settle();
  gateway.socket.cut();
  await settle(1_000);
  expect(call.outcome).toEqual({ code: "interrupted", admitted: "unknown" });
  expect(gateway.calls).toHaveLength(1);
});

test("a call with a key is repeated unchanged until it has an outcome", async () => {
  const { gateway, client, settle } = bench();
  gateway.answer = () => undefined;
  client.connect();
  await settle();
  const call = watch(client.call("exec", { command: "rm x" }, { key: "k" }));
  await settle();
  for (let cut = 0; cut < 3; cut++) {
    gateway.socket.cut();
    await settle(2_000);
  }
  gateway.answer = () => ({ value: "done" });
  gateway.socket.cut();
  await settle(5_000);
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
  const { gateway, client, settle } = bench();
  const error = { code: "unavailable", message: "", retryable: true, admitted: "no" };
  gateway.answer = () => ({ error });
  client.connect();
  const call = watch(client.call("terminal.create", { id: "main" }, { key: "k" }));
  await settle(300);
  expect(call.outcome).toBe("pending");
  gateway.answer = () => ({ value: 1 });
  await settle(15_000);
  expect(call.outcome).toEqual({ value: 1 });
});

test("a timeout includes the wait for a connection, and the server receives the remaining time", async () => {
  const { gateway, client, settle } = bench();
  gateway.answer = () => undefined;
  const call = watch(client.call("exec", { command: "true" }, { timeout: 5, key: "k" }));
  await settle(2_000);
  client.connect();
  await settle(100);
  expect(gateway.calls[0]?.timeout).toBeLessThanOrEqual(3);
  await settle(5_000);
  expect(call.outcome).toEqual({ code: "deadline_exceeded", admitted: "unknown" });
});

test("closing the client fails every pending call", async () => {
  const { client, settle } = bench();
  const call = watch(client.call("runtime.info", {}, { key: "k" }));
  client.close();
  await settle();
  expect(call.outcome).toEqual({ code: "cancelled", admitted: "no" });
  const late = watch(client.call("runtime.info"));
  await settle();
  expect(late.outcome).toEqual({ code: "cancelled", admitted: "no" });
});

test("after a retry of a failed connection, calls wait again", async () => {
  const { gateway, client, settle } = bench();
  client.connect();
  await settle();
  gateway.socket.cut(1008);
  const early = watch(client.call("runtime.info"));
  await settle();
  expect(early.outcome).toMatchObject({ code: "unavailable" });
  client.retryNow();
  const late = watch(client.call("runtime.info"));
  await settle();
  expect(late.outcome).toEqual({ value: {} });
});
