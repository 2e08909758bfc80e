import { expect, test } from "vitest";
import { Backoff, FIRST_RETRY, LONGEST_WAIT, SHORT_ATTEMPTS, SHORT_WAIT } from "../../src/connection/backoff";

test("the first retry is immediate, then the upper bound doubles, and is low until the outage is long", () => {
  const backoff = new Backoff(() => 1);
  const waits = Array.from({ length: SHORT_ATTEMPTS }, () => backoff.next());
  expect(waits.slice(0, 7)).toEqual([FIRST_RETRY, 200, 400, 800, 1_600, SHORT_WAIT, SHORT_WAIT]);
  expect(waits.at(-1)).toBe(SHORT_WAIT);
  expect(backoff.next()).toBe(LONGEST_WAIT);
});

test("the jitter is full: a delay may be any value up to the upper bound", () => {
  const backoff = new Backoff(() => 0.5);
  expect(Array.from({ length: 4 }, () => backoff.next())).toEqual([50, 100, 200, 400]);
  const smallest = new Backoff(() => 0);
  expect([smallest.next(), smallest.next(), smallest.next()]).toEqual([50, 50, 50]);
});

test("reset starts again with an immediate retry", () => {
  const backoff = new Backoff(() => 1);
  for (let i = 0; i < 50; i++) backoff.next();
  expect(backoff.next()).toBe(LONGEST_WAIT);
  backoff.reset();
  expect(backoff.next()).toBe(FIRST_RETRY);
});
