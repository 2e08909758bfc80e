import { expect, test } from "vitest";
import type { StreamItem } from "../../../src/client/streams";
import { type DesktopStream, MAX_WAITING, RfbChannel } from "../../../src/views/desktop/rfb-channel";
import { HawseError } from "../../../src/wire/errors";

type Item = StreamItem<"desktop.attach">;

function data(...bytes: number[]): Item {
  return { event: "data", kind: 1, offset: 0, bytes: new Uint8Array(bytes) };
}

class FakeStream implements DesktopStream {
  readonly written: number[][] = [];
  cancelled = false;
  readonly #items: Item[];
  readonly #error: HawseError | undefined;
  readonly #write: Promise<void>;

  constructor(items: Item[], error?: HawseError, write: Promise<void> = Promise.resolve()) {
    this.#items = items;
    this.#error = error;
    this.#write = write;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Item> {
    yield* this.#items;
    if (this.#error) throw this.#error;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#write;
    this.written.push([...bytes]);
  }

  cancel(): void {
    this.cancelled = true;
  }
}

function channelOf(stream: FakeStream): { channel: RfbChannel; seen: string[] } {
  const seen: string[] = [];
  const channel = new RfbChannel(stream, {
    opened: ({ viewer }) => seen.push(`opened ${viewer}`),
    lease: ({ mode }) => seen.push(mode),
    ended: error => seen.push(`ended ${error?.code ?? ""}`),
  });
  channel.onopen = () => seen.push(channel.readyState);
  channel.onmessage = event => seen.push([...new Uint8Array(event.data)].join());
  channel.onclose = ({ code }) => seen.push(`close ${code}`);
  return { channel, seen };
}

const OPENED = { event: "opened", value: { viewer: "v1" } } as Item;
const LEASE = { event: "lease", value: { mode: "exclusive" } } as Item;

test("the call becomes open, messages and a close, in their order", async () => {
  const { channel, seen } = channelOf(new FakeStream([OPENED, data(1, 2), LEASE, data(3)]));
  await channel.run();
  expect(seen).toEqual(["opened v1", "open", "1,2", "exclusive", "3", "close 1000", "ended "]);
  expect(channel.readyState).toBe("closed");
});

test("an error of the call closes it with its reason", async () => {
  const { channel, seen } = channelOf(new FakeStream([], new HawseError("not_found", "no desktop")));
  await channel.run();
  expect(seen).toEqual(["close 1011", "ended not_found"]);
});

test("bytes are sent in order, also if their buffer is used again", async () => {
  const stream = new FakeStream([]);
  const { channel } = channelOf(stream);
  const buffer = new Uint8Array([1, 2, 3]);
  channel.send(buffer.subarray(1));
  buffer.fill(9);
  channel.send(buffer.buffer);
  await expect
    .poll(() => stream.written)
    .toEqual([
      [2, 3],
      [9, 9, 9],
    ]);
});

test("it is closed when too much waits to be sent", () => {
  const stream = new FakeStream([], undefined, new Promise(() => {}));
  const { channel } = channelOf(stream);
  channel.send(new Uint8Array(MAX_WAITING));
  expect(stream.cancelled).toBe(false);
  channel.send(new Uint8Array(1));
  expect(stream.cancelled).toBe(true);
  expect(channel.readyState).toBe("closing");
});
