import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { bench } from "../fakes/bench";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("welcome and state are those of the current connection", async () => {
  const { client, settle } = bench();
  expect([client.state.phase, client.welcome]).toEqual(["idle", undefined]);
  client.connect();
  await settle();
  expect([client.state.phase, client.welcome?.role]).toEqual(["live", "owner"]);
});

test("the round-trip time is known after the first pong", async () => {
  const { client, settle } = bench();
  client.connect();
  await settle(2_000);
  expect(client.roundTrip).toBeGreaterThanOrEqual(0);
});

test("open returns undefined while there is no connection, and a channel on the next one", async () => {
  const { client, gateway, settle } = bench();
  const handlers = { result: () => {}, error: () => {} };
  expect(client.open("x", {}, handlers)).toBeUndefined();
  client.connect();
  await settle();
  expect(client.open("x", {}, handlers)).toBeDefined();
  gateway.socket.cut();
  expect(client.open("x", {}, handlers)).toBeUndefined();
});
