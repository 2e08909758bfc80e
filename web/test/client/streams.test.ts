import { expect, test, vi } from "vitest";
import type { Channel, ChannelHandlers } from "../../src/client/channels";
import { MethodStream } from "../../src/client/streams";
import type { CallOptions } from "../../src/wire/connection";
import { HawseError, interrupted } from "../../src/wire/errors";

/** A source with one channel, whose messages the test sends. */
function makeSource({ live = true } = {}) {
  const log: string[] = [];
  let handlers: ChannelHandlers | undefined;
  const up = new Set<() => void>();
  const refused = new Set<(error: HawseError) => void>();
  const waits = new Set<(error: HawseError) => void>();
  const state: { live: boolean; credit: number; refusal: HawseError | undefined } = {
    live,
    credit: 0,
    refusal: undefined,
  };
  const calls: CallOptions[] = [];
  const channel: Channel = {
    get inputCredit() {
      return state.credit;
    },
    input: (offset, bytes) => {
      state.credit -= bytes.length;
      log.push(`input ${offset}+${bytes.length}`);
    },
    end: () => log.push("end"),
    cancel: () => log.push("cancel"),
    consume: bytes => log.push(`consume ${bytes}`),
  };
  const subscribe = <T>(set: Set<T>, listener: T) => {
    set.add(listener);
    return { dispose: () => set.delete(listener) };
  };
  return {
    log,
    state,
    up,
    refused,
    waits,
    calls,
    open: (_: string, options: CallOptions, given: ChannelHandlers) => {
      if (!state.live) return undefined;
      calls.push(options);
      handlers = given;
      return channel;
    },
    onUp: (listener: () => void) => subscribe(up, listener),
    get refusal() {
      return state.refusal;
    },
    onRefusal: (listener: (error: HawseError) => void) => {
      if (state.refusal) listener(state.refusal);
      return subscribe(refused, listener);
    },
    limitWait: (fail: (error: HawseError) => void) => subscribe(waits, fail),
    get handlers() {
      return handlers as ChannelHandlers;
    },
  };
}

const entries = { entries: [] };

test("a loop gets events and bytes in order, and grants credit for each when it asks for the next", async () => {
  const source = makeSource();
  const stream = new MethodStream(source, "file.read", { path: "x" });
  source.handlers.event?.("opened", { size: 2 }, 70);
  source.handlers.data?.({ kind: 1, ch: 1, offset: 5, payload: Uint8Array.of(1, 2) }, 2);
  const seen: unknown[] = [];
  for await (const item of stream) {
    seen.push(item);
    if (seen.length === 1) expect(source.log).toEqual([]);
    else source.handlers.result({ bytes: 2, version: "v" });
  }
  expect(seen).toEqual([
    { event: "opened", value: { size: 2 } },
    { event: "data", kind: 1, offset: 5, bytes: Uint8Array.of(1, 2) },
  ]);
  expect(source.log).toEqual(["consume 70", "consume 2"]);
  expect(await stream.result).toEqual({ bytes: 2, version: "v" });
});

test("a loop that is left cancels the call", async () => {
  const source = makeSource();
  const stream = new MethodStream(source, "file.list", { path: "." });
  source.handlers.event?.("entries", entries, 1);
  for await (const item of stream) {
    expect(item.event).toBe("entries");
    break;
  }
  expect(source.log).toEqual(["cancel"]);
  await expect(stream.result).rejects.toMatchObject({ code: "cancelled" });
});

test("an awaited call drops its events, returns their credit and gives the result", async () => {
  const source = makeSource();
  const stream = new MethodStream(source, "file.list", { path: "." });
  source.handlers.event?.("entries", entries, 3);
  const result = Promise.resolve(stream);
  await Promise.resolve();
  source.handlers.event?.("entries", entries, 4);
  source.handlers.result({ entries: 0, failed: 0 });
  expect(await result).toEqual({ entries: 0, failed: 0 });
  expect(source.log).toEqual(["consume 3", "consume 4"]);
});

test("an error of the call is thrown by the loop and by the result", async () => {
  const source = makeSource();
  const stream = new MethodStream(source, "file.list", { path: "." });
  source.handlers.error(interrupted("file.list"));
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "interrupted" });
  await expect(stream.result).rejects.toMatchObject({ code: "interrupted" });
});

test("a call without a connection waits for one, unless the client is refused or it takes too long", async () => {
  const source = makeSource({ live: false });
  const waiting = new MethodStream(source, "file.list", { path: "." });
  const refused = new MethodStream(source, "file.list", { path: "." });
  const late = new MethodStream(source, "file.list", { path: "." });
  [...source.refused][1]?.(new HawseError("forbidden", "no"));
  await expect(refused.result).rejects.toMatchObject({ code: "forbidden", admitted: "no" });
  [...source.waits][1]?.(new HawseError("unavailable", "no connection"));
  await expect(late.result).rejects.toMatchObject({ code: "unavailable" });
  source.state.live = true;
  for (const up of source.up) up();
  source.handlers.result({ entries: 0, failed: 0 });
  expect(await waiting.result).toEqual({ entries: 0, failed: 0 });
  expect([source.up.size, source.refused.size, source.waits.size]).toEqual([0, 0, 0]);
});

test("a call of a client that is refused already fails at once, and keeps nothing", async () => {
  const source = makeSource({ live: false });
  source.state.refusal = new HawseError("cancelled", "the client is closed");
  const stream = new MethodStream(source, "file.list", { path: "." });
  await expect(stream.result).rejects.toMatchObject({ code: "cancelled" });
  expect([source.up.size, source.refused.size, source.waits.size]).toEqual([0, 0, 0]);
});

test("a call whose connection was lost because of a refusal fails with the refusal", async () => {
  const source = makeSource();
  const stream = new MethodStream(source, "file.list", { path: "." });
  source.state.refusal = new HawseError("unauthenticated", "the token was revoked");
  source.handlers.error(interrupted("file.list"));
  await expect(stream.result).rejects.toMatchObject({ code: "unauthenticated", admitted: "unknown" });
});

test("parameters that cannot be sent fail their call", async () => {
  const source = makeSource();
  source.open = () => {
    throw new HawseError("too_large", "2 MB");
  };
  const stream = new MethodStream(source, "file.list", { path: "." });
  await expect(stream.result).rejects.toMatchObject({ code: "too_large" });
});

test("a repeated interrupted call has its key and its age, and waits without a limit", async () => {
  vi.useFakeTimers();
  const source = makeSource();
  const first = new MethodStream(source, "file.write", { path: "x", input: "i" }, { key: "k", sandbox: "s" });
  source.handlers.error(interrupted("file.write"));
  source.state.live = false;
  const second = first.again({ path: "x", input: "i" });
  expect([source.waits.size, source.refused.size]).toEqual([0, 1]);
  await vi.advanceTimersByTimeAsync(90_000);
  vi.setSystemTime(0);
  source.state.live = true;
  for (const up of source.up) up();
  expect(source.calls).toEqual([
    { key: "k", sandbox: "s", params: { path: "x", input: "i" } },
    { key: "k", sandbox: "s", params: { path: "x", input: "i" }, age: expect.closeTo(90, 1) },
  ]);
  source.handlers.result({ bytes: 0, version: "v" });
  expect(await second.result).toEqual({ bytes: 0, version: "v" });
  vi.useRealTimers();
});

test("two writes at a time both end", async () => {
  const source = makeSource();
  const stream = new MethodStream(source, "file.write", { path: "x", input: "i" });
  const written = [stream.write(new Uint8Array(3)), stream.write(new Uint8Array(3))];
  source.state.credit = 6;
  source.handlers.credit?.(6);
  await Promise.all(written);
  expect(stream.inputOffset).toBe(6);
});

test("input is sent as far as there is credit, and waits for more", async () => {
  const source = makeSource();
  const stream = new MethodStream(source, "file.write", { path: "x", input: "i" });
  stream.inputOffset = 10;
  source.state.credit = 3;
  const written = stream.write(new Uint8Array(5));
  source.state.credit = 9;
  source.handlers.credit?.(9);
  await written;
  stream.end();
  expect(source.log).toEqual(["input 10+3", "input 13+2", "end"]);
  source.handlers.result({ bytes: 5, version: "v" });
  await expect(stream.write(new Uint8Array(1))).rejects.toMatchObject({ code: "exited" });
});

test("a call of an earlier page is sent with its age, also when it is repeated", async () => {
  vi.useFakeTimers();
  const source = makeSource();
  const stream = new MethodStream(source, "code.run", { source: "1" }, { key: "k", age: 30 });
  await vi.advanceTimersByTimeAsync(5_000);
  stream.again({ source: "1" });
  expect(source.calls.map(({ age }) => age)).toEqual([expect.closeTo(30, 1), expect.closeTo(35, 1)]);
  vi.useRealTimers();
});
