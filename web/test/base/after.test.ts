import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { after } from "../../src/base/after";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("the action is called once, after the time", async () => {
  const action = vi.fn();
  after(1_000, action);
  await vi.advanceTimersByTimeAsync(999);
  expect(action).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(action).toHaveBeenCalledTimes(1);
});

test("it is not called after the disposal, nor after Infinity", async () => {
  const action = vi.fn();
  after(1_000, action).dispose();
  after(Number.POSITIVE_INFINITY, action);
  expect(vi.getTimerCount()).toBe(0);
});

test("a time of months is waited for", async () => {
  const action = vi.fn();
  const month = 30 * 86_400_000;
  after(2 * month, action);
  await vi.advanceTimersByTimeAsync(2 * month - 1);
  expect(action).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(action).toHaveBeenCalledTimes(1);
});
