import { expect, test, vi } from "vitest";
import type { MethodStream } from "../../src/client/streams";
import { follow } from "../../src/views/follow";
import { HawseError, interrupted } from "../../src/wire/errors";

/** A stream that yields `items` and then throws `error`, ends, or stays open until it is cancelled. */
function stream(items: unknown[], end?: HawseError | "end"): MethodStream<"port.watch"> {
  let cancel = () => {};
  const cancelled = new Promise<void>(resolve => {
    cancel = resolve;
  });
  async function* run() {
    yield* items;
    if (end === undefined) await cancelled;
    else if (end !== "end") throw end;
  }
  return Object.assign(run(), { cancel }) as unknown as MethodStream<"port.watch">;
}

test("a stream is opened again after a lost connection, and not after another error", async () => {
  const streams = [stream([1], interrupted("lost")), stream([2], new HawseError("forbidden", "no"))];
  const seen: unknown[] = [];
  const error = await new Promise<HawseError>(resolve =>
    follow({
      open: () => streams.shift() as MethodStream<"port.watch">,
      item: item => seen.push(item),
      failed: resolve,
    }),
  );
  expect(error.code).toBe("forbidden");
  expect(seen).toEqual([1, 2]);
  expect(streams).toEqual([]);
});

test("the end of a stream is reported", async () => {
  await new Promise<void>(resolve =>
    follow({ open: () => stream([], "end"), item: () => {}, ended: resolve }),
  );
});

test("after its disposal nothing is reported", async () => {
  const seen: unknown[] = [];
  const following = follow({
    open: () => stream([1]),
    item: item => seen.push(item),
    ended: () => seen.push("end"),
  });
  following.dispose();
  await Promise.resolve();
  expect(seen).toEqual([]);
});

test("a stream is opened again after a while if the server was unavailable, and then at longer intervals", async () => {
  vi.useFakeTimers();
  try {
    let opened = 0;
    const away = new HawseError("unavailable", "the machine is away", { retryable: true });
    const following = follow({
      open: () => {
        opened++;
        return stream([], away);
      },
      item: () => {},
      failed: () => expect.unreachable(),
    });
    await vi.advanceTimersByTimeAsync(600);
    expect(opened).toBe(2);
    await vi.advanceTimersByTimeAsync(600);
    expect(opened).toBe(2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(opened).toBeLessThan(12);
    following.dispose();
    const before = opened;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(opened).toBe(before);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
