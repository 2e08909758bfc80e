import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeHarness } from "../fakes/harness";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("welcome and state are those of the current connection", async () => {
  const { client, runUntilIdle } = makeHarness();
  expect([client.state.phase, client.welcome]).toEqual(["idle", undefined]);
  client.connect();
  await runUntilIdle();
  expect([client.state.phase, client.welcome?.role]).toEqual(["live", "owner"]);
});

test("the round-trip time is known after the first pong", async () => {
  const { client, runUntilIdle } = makeHarness();
  client.connect();
  await runUntilIdle(2_000);
  expect(client.roundTrip).toBeGreaterThanOrEqual(0);
});

test("the method's name determines the types of the parameters and of the result", () => {
  const { client } = makeHarness();
  // Only checked by the compiler: a directive without an error in the next line is an error itself.
  const typed = () => [
    client.call("terminal.get", { id: "x" }).then(({ pid }): number | null | undefined => pid),
    client.call("share.create", { terminal: "main" }).then(({ token }): string => token),
    client.call("terminal.list", {}, { sandbox: "local" }),
    // @ts-expect-error: no method has this name
    client.call("terminal.fetch", { id: "x" }),
    // @ts-expect-error: a required parameter is missing
    client.call("terminal.get", {}),
    // @ts-expect-error: the parameters are missing
    client.call("terminal.get"),
    // @ts-expect-error: the method has no such parameter
    client.call("terminal.get", { id: "x", name: "y" }),
    // @ts-expect-error: the parameter has another type
    client.call("terminal.get", { id: 1 }),
    // @ts-expect-error: the result has no such field
    client.call("share.create", {}).then(({ secret }) => secret),
  ];
  expect(typed).toBeTypeOf("function");
});

test("open returns undefined while there is no connection, and a channel on the next one", async () => {
  const { client, gateway, runUntilIdle } = makeHarness();
  const handlers = { result: () => {}, error: () => {} };
  expect(client.open("x", {}, handlers)).toBeUndefined();
  client.connect();
  await runUntilIdle();
  expect(client.open("x", {}, handlers)).toBeDefined();
  gateway.socket.cut();
  expect(client.open("x", {}, handlers)).toBeUndefined();
});
