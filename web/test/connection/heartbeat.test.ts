import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Heartbeat, median } from "../../src/connection/heartbeat";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function make() {
  const pings: number[] = [];
  const recorded = { pings, dead: 0, roundTrips: [] as number[] };
  const heartbeat = new Heartbeat({
    ping: t => pings.push(t),
    dead: () => recorded.dead++,
    roundTrip: milliseconds => recorded.roundTrips.push(milliseconds),
    now: () => Date.now(),
  });
  return { heartbeat, recorded };
}

test("it pings at once, then every second, and later every five seconds", () => {
  const { heartbeat, recorded } = make();
  const start = Date.now();
  heartbeat.start();
  for (let second = 0; second < 14; second++) {
    heartbeat.received();
    vi.advanceTimersByTime(1_000);
  }
  expect(recorded.pings.map(t => t - start)).toEqual([0, 1_000, 2_000, 3_000, 8_000, 13_000]);
  expect(recorded.dead).toBe(0);
});

test("ten seconds without a message after a ping report a dead connection once", () => {
  const { heartbeat, recorded } = make();
  heartbeat.start();
  vi.advanceTimersByTime(9_999);
  expect(recorded.dead).toBe(0);
  vi.advanceTimersByTime(1);
  expect(recorded.dead).toBe(1);
  heartbeat.stop();
  vi.advanceTimersByTime(60_000);
  expect(recorded.dead).toBe(1);
});

test("any message counts as a response, because a pong may be queued behind output", () => {
  const { heartbeat, recorded } = make();
  heartbeat.start();
  for (let i = 0; i < 10; i++) {
    vi.advanceTimersByTime(9_000);
    heartbeat.received();
  }
  expect(recorded.dead).toBe(0);
});

test("a probe has a shorter time-out", () => {
  const { heartbeat, recorded } = make();
  heartbeat.start();
  heartbeat.received();
  heartbeat.probe();
  vi.advanceTimersByTime(3_000);
  expect(recorded.dead).toBe(1);
});

test("the round-trip time is the median of the last ten", () => {
  const { heartbeat, recorded } = make();
  for (const trip of [900, 10, 20, 30]) heartbeat.receivePong(Date.now() - trip);
  expect(recorded.roundTrips).toEqual([900, 455, 20, 25]);
  for (let i = 0; i < 10; i++) heartbeat.receivePong(Date.now() - 40);
  expect(recorded.roundTrips.at(-1)).toBe(40);
  expect(median([])).toBe(0);
});
