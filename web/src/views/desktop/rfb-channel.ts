// Presents a `desktop.attach` call as the WebSocket that noVNC expects.

import type { StreamItem } from "../../client/streams";
import { HawseError } from "../../wire/errors";
import type { DesktopOpened, WriterLeaseEvent } from "../../wire/methods";

/** Maximum number of unsent bytes. If there are more, the sandbox isn't reading, so the connection is closed. */
export const MAX_WAITING = 4 * 1024 * 1024;

type Item = StreamItem<"desktop.attach">;

/** The methods of a `MethodStream` that this module uses. */
export interface DesktopStream extends AsyncIterable<Item> {
  write(bytes: Uint8Array): Promise<void>;
  cancel(): void;
}

export interface RfbChannelEvents {
  opened(value: DesktopOpened): void;
  lease(value: WriterLeaseEvent): void;
  /** Called once, when the call has ended; without an error if the desktop has ended. */
  ended(error: HawseError | undefined): void;
}

/** noVNC looks up each of these names on the object or its class. */
export class RfbChannel {
  binaryType = "arraybuffer";
  protocol = "";
  readyState: "connecting" | "open" | "closing" | "closed" = "connecting";
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: ArrayBuffer }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  onerror: ((event: unknown) => void) | null = null;
  readonly #stream: DesktopStream;
  readonly #events: RfbChannelEvents;
  #sending: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(stream: DesktopStream, events: RfbChannelEvents) {
    this.#stream = stream;
    this.#events = events;
  }

  /** Reads until the call ends. */
  async run(): Promise<void> {
    let failure: HawseError | undefined;
    try {
      for await (const item of this.#stream) this.#receive(item);
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      failure = problem;
    }
    this.readyState = "closed";
    this.onclose?.({ code: failure ? 1011 : 1000, reason: failure?.message ?? "" });
    this.#events.ended(failure);
  }

  send(data: ArrayBuffer | ArrayBufferView): void {
    const bytes = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice() // copied, because noVNC reuses its buffer
      : new Uint8Array(data.slice(0));
    this.#waiting += bytes.length;
    if (this.#waiting > MAX_WAITING) {
      this.close();
      return;
    }
    this.#sending = this.#sending
      .then(() => this.#stream.write(bytes))
      .then(
        () => {
          this.#waiting -= bytes.length;
        },
        () => {}, // the call has ended, and `run` reports why
      );
  }

  close(): void {
    if (this.readyState === "closed") return;
    this.readyState = "closing";
    this.#stream.cancel();
  }

  #receive(item: Item): void {
    if (item.event === "opened") {
      this.readyState = "open";
      this.#events.opened(item.value);
      this.onopen?.();
    } else if (item.event === "lease") this.#events.lease(item.value);
    else if (item.event === "data") this.onmessage?.({ data: item.bytes.slice().buffer });
  }
}
