import { expect, test } from "vitest";
import type { Channel, ChannelHandlers } from "../../src/client/channels";
import { MethodStream } from "../../src/client/streams";
import { HawseError, interrupted } from "../../src/wire/errors";

/** A source with one channel, whose messages the test sends. */
function makeSource({ live = true } = {}) {
  const log: string[] = [];
  let handlers: ChannelHandlers | undefined;
  const up = new Set<() => void>();
  const fatal = new Set<(error: HawseError) => void>();
  const state = { live, credit: 0 };
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
    fatal,
    open: (_: string, __: object, given: ChannelHandlers) => {
      if (!state.live) return undefined;
      handlers = given;
      return channel;
    },
    onUp: (listener: () => void) => subscribe(up, listener),
    onFatal: (listener: (error: HawseError) => void) => subscribe(fatal, listener),
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

test("a call without a connection waits for one, unless there will be none", async () => {
  const source = makeSource({ live: false });
  const waiting = new MethodStream(source, "file.list", { path: "." });
  const refused = new MethodStream(source, "file.list", { path: "." });
  const [, fail] = source.fatal;
  fail?.(new HawseError("forbidden", "no"));
  await expect(refused.result).rejects.toMatchObject({ code: "forbidden" });
  source.state.live = true;
  for (const up of source.up) up();
  source.handlers.result({ entries: 0, failed: 0 });
  expect(await waiting.result).toEqual({ entries: 0, failed: 0 });
  expect([source.up.size, source.fatal.size]).toEqual([0, 0]);
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
