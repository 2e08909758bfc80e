import { expect, test } from "vitest";
import { SteadyClock } from "../../src/base/steady-clock";

test.each([
  ["both run", 1_000, 1_000, 1_000],
  ["the date is set back", 1_000, -3_600_000, 1_000],
  ["one clock stops while the machine sleeps", 10, 60_000, 60_000],
  ["the date is set forward", 10, 60_000, 60_000],
  ["both go back", -5, -5, 0],
])("it takes the longer of two measurements: %s", (_, monotonic, date, elapsed) => {
  let readings: readonly [number, number] = [500, 1_000_000];
  const clock = new SteadyClock(() => readings);
  readings = [500 + monotonic, 1_000_000 + date];
  expect(clock.now()).toBe(elapsed);
});

test("a sleep still counts when the date is set back after it", () => {
  let readings: readonly [number, number] = [0, 0];
  const clock = new SteadyClock(() => readings);
  readings = [0, 60_000];
  clock.now();
  readings = [1_000, 0];
  expect(clock.now()).toBe(61_000);
});
