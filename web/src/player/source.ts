// Reads a recording from the sandbox in blocks; repeats a read if the connection is lost.

import type { GatewayClient } from "../client/client";
import { joinBytes } from "../client/join-bytes";
import { HawseError } from "../wire/errors";
import type { RecordingInfo } from "../wire/methods";

export type Part = "cast" | "screens" | "index";

export interface RecordingSource {
  info(): Promise<RecordingInfo>;
  /** Reads up to `length` bytes from `offset`; returns fewer at the end. */
  read(part: Part, offset: number, length?: number): Promise<Uint8Array>;
}

type Client = Pick<GatewayClient, "call" | "open" | "onUp">;

export class RemoteRecording implements RecordingSource {
  readonly #client: Client;
  readonly #sandbox: string;
  readonly #id: string;

  constructor(client: Client, sandbox: string, id: string) {
    this.#client = client;
    this.#sandbox = sandbox;
    this.#id = id;
  }

  info(): Promise<RecordingInfo> {
    return this.#retry(() =>
      this.#client.call("recording.get", { id: this.#id }, { sandbox: this.#sandbox }),
    );
  }

  read(part: Part, offset: number, length?: number): Promise<Uint8Array> {
    const params = { id: this.#id, part, offset, ...(length === undefined ? {} : { length }) };
    return this.#retry(() => this.#read(params));
  }

  /** Reading has no side effects, so it is repeated if the connection is lost. */
  async #retry<T>(action: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await action();
      } catch (problem) {
        if (!(problem instanceof HawseError) || problem.code !== "interrupted") throw problem;
      }
    }
  }

  async #read(params: object): Promise<Uint8Array> {
    const blocks: Uint8Array[] = [];
    await new Promise<void>((resolve, reject) => {
      const open = (): boolean => {
        const channel = this.#client.open(
          "recording.read",
          { sandbox: this.#sandbox, params },
          {
            event: (_name, _value, cost) => channel?.consume(cost),
            data: (frame, cost) => {
              blocks.push(frame.payload.slice());
              channel?.consume(cost);
            },
            result: () => resolve(),
            error: reject,
          },
        );
        return channel !== undefined;
      };
      if (open()) return;
      const waiting = this.#client.onUp(() => {
        if (open()) waiting.dispose();
      });
    });
    return joinBytes(blocks);
  }
}
