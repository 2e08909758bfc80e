import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { persistently } from "../../src/page/import-with-retry";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a module that fails to load is loaded again", async () => {
  const load = vi.fn().mockRejectedValueOnce(new Error("network changed")).mockResolvedValue("module");
  const loaded = persistently(load);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await loaded).toBe("module");
  expect(load).toHaveBeenCalledTimes(2);
});

test("the error is reported after thirty attempts", async () => {
  const load = vi.fn().mockRejectedValue(new Error("gone"));
  const loaded = persistently(load).catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await loaded).toBe("gone");
  expect(load).toHaveBeenCalledTimes(30);
});
