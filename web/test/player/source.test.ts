import { expect, test } from "vitest";
import type { Channel, ChannelHandlers } from "../../src/client/channels";
import { RemoteRecording } from "../../src/player/source";
import { HawseError, interrupted } from "../../src/wire/errors";

function make() {
  const opened: { params: object; handlers: ChannelHandlers; consumed: number }[] = [];
  let up: (() => void) | undefined;
  const client = {
    connected: true,
    call: async () => ({}) as never,
    open: (_: string, options: { params?: object }, handlers: ChannelHandlers) => {
      if (!client.connected) return undefined;
      const entry = { params: options.params ?? {}, handlers, consumed: 0 };
      opened.push(entry);
      return { consume: (bytes: number) => (entry.consumed += bytes) } as unknown as Channel;
    },
    onUp: (listener: () => void) => {
      up = listener;
      return { dispose: () => (up = undefined) };
    },
  };
  const frame = (text: string) =>
    ({ kind: 1, ch: 1, offset: 0, payload: new TextEncoder().encode(text) }) as const;
  return {
    recording: new RemoteRecording(client as never, "local", "r1"),
    client,
    opened,
    frame,
    up: () => up?.(),
  };
}

test("a read joins its frames and returns their credit", async () => {
  const { recording, opened, frame } = make();
  const bytes = recording.read("cast", 5, 4);
  const [{ handlers, params }] = opened as [(typeof opened)[0]];
  handlers.data?.(frame("ab"), 2);
  handlers.data?.(frame("cd"), 2);
  handlers.result({});
  expect(new TextDecoder().decode(await bytes)).toBe("abcd");
  expect([params, opened[0]?.consumed]).toEqual([{ id: "r1", part: "cast", offset: 5, length: 4 }, 4]);
});

test("a read that a lost connection interrupts is repeated, without the bytes of the first attempt", async () => {
  const { recording, client, opened, frame, up } = make();
  const bytes = recording.read("index", 0);
  opened[0]?.handlers.data?.(frame("partial"), 7);
  client.connected = false;
  opened[0]?.handlers.error(interrupted("recording.read"));
  await Promise.resolve();
  await Promise.resolve();
  client.connected = true;
  up();
  opened[1]?.handlers.data?.(frame("whole"), 5);
  opened[1]?.handlers.result({});
  expect(new TextDecoder().decode(await bytes)).toBe("whole");
});

test("any other error is thrown", async () => {
  const { recording, opened } = make();
  const bytes = recording.read("cast", 0);
  opened[0]?.handlers.error(new HawseError("not_found", "no recording r1"));
  await expect(bytes).rejects.toMatchObject({ code: "not_found" });
});
