// Follows one run of a code context to its end, also across lost connections: a call that runs code, or one that is
// attached to the run of somebody else.

import type { Disposable } from "../../base/disposables";
import { randomId } from "../../base/random-id";
import { joinBytes, type Namespace } from "../../client/sandbox";
import type { MethodStream, StreamItem } from "../../client/streams";
import { wasInterrupted } from "../../client/streams";
import { HawseError } from "../../wire/errors";
import type { CodeDisplay, CodeError, CodeInputRequest, CodeRunResult } from "../../wire/methods";

/** The part of a sandbox that runs code. */
export interface CodeCalls {
  readonly code: Pick<Namespace<"code">, "run" | "attach">;
}

export interface RunListener {
  /** The code is sent to be run, also again after a lost connection: the run has another id then. */
  requested(): void;
  /** The run has an id. `source`: its code, if it is the run of somebody else. */
  named(run: string, source: string | undefined): void;
  /** The run has begun. */
  began(): void;
  text(stream: "stdout" | "stderr", text: string): void;
  display(value: CodeDisplay, data: Record<string, unknown>): void;
  update(value: CodeDisplay, data: Record<string, unknown>): void;
  clear(wait: boolean): void;
  error(error: CodeError): void;
  input(request: CodeInputRequest): void;
  ended(result: CodeRunResult): void;
  /** The run could not begin, or its output is not available. */
  failed(error: HawseError): void;
}

/** Which run: code to run, or the id of a run to attach to. */
export type Which = { readonly context: string } & ({ readonly source: string } | { readonly run: string });

/** Bytes of large values that are kept until their event arrives. */
const LARGE_MAX = 33_554_432;
const KINDS = ["", "stdout", "stderr", "bundles"] as const;

type Item = StreamItem<"code.run"> | StreamItem<"code.attach">;

export class RunFollower implements Disposable {
  readonly #box: CodeCalls;
  readonly #which: Which;
  readonly #listener: RunListener;
  readonly #key = randomId();
  readonly #since = { stdout: 0, stderr: 0, bundles: 0, events: 0 };
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  readonly #large = new LargeValues();
  #run: string | undefined;
  #began = false;
  #stopped = false;
  #stream: MethodStream<"code.run"> | MethodStream<"code.attach"> | undefined;

  constructor(box: CodeCalls, which: Which, listener: RunListener) {
    this.#box = box;
    this.#which = which;
    this.#listener = listener;
    if ("run" in which) this.#run = which.run;
    void this.#follow();
  }

  /** Ends the subscription. The run continues. */
  dispose(): void {
    this.#stopped = true;
    this.#stream?.cancel();
  }

  async #follow(): Promise<void> {
    while (!this.#stopped) {
      const stream = this.#open();
      this.#stream = stream;
      try {
        for await (const item of stream as AsyncIterable<Item>) {
          if (this.#stopped) return;
          this.#take(item);
        }
        const result = (await stream.result) as CodeRunResult;
        if (!this.#stopped) this.#listener.ended(result);
        return;
      } catch (problem) {
        if (this.#stopped) return;
        if (!(problem instanceof HawseError)) throw problem;
        if (!wasInterrupted(problem)) return this.#listener.failed(problem);
      }
    }
  }

  #open(): MethodStream<"code.run"> | MethodStream<"code.attach"> {
    const since = { ...this.#since };
    const { context } = this.#which;
    // A run that waits is not attached to: the call that waits keeps it in the queue.
    if (this.#run !== undefined && (this.#began || !("source" in this.#which)))
      return this.#box.code.attach({ context, run: this.#run, since });
    this.#run = undefined;
    this.#listener.requested();
    const { source } = this.#which as { source: string };
    return this.#box.code.run({ context, source, stdin: true, since }, { key: this.#key });
  }

  #take(item: Item): void {
    switch (item.event) {
      case "data":
        this.#bytes(item.kind, item.offset, item.bytes);
        return;
      case "waiting":
        this.#named(item.value.run ?? "", undefined);
        return;
      case "opened":
        this.#named(item.value.run, item.value.source ?? undefined);
        if (!this.#began) this.#listener.began();
        this.#began = true;
        return;
      case "truncated":
        // The stream continues after a gap.
        this.#since[item.value.stream] = item.value.from;
        if (item.value.stream === "bundles") this.#large.skip(item.value.from);
        return;
      default:
        this.#since.events = item.value.offset;
        this.#event(item);
    }
  }

  #event(item: Exclude<Item, { event: "data" | "waiting" | "opened" | "truncated" }>): void {
    const { event, value } = item;
    if (event === "value" || event === "display") this.#listener.display(value, this.#dataOf(value));
    else if (event === "update") this.#listener.update(value, this.#dataOf(value));
    else if (event === "clear") this.#listener.clear(value.wait === true);
    else if (event === "raised") this.#listener.error(value);
    else this.#listener.input(value);
  }

  #named(run: string, source: string | undefined): void {
    if (!run || (run === this.#run && source === undefined)) return;
    this.#run = run;
    this.#listener.named(run, source);
  }

  #bytes(kind: number, offset: number, bytes: Uint8Array): void {
    const stream = KINDS[kind];
    if (!stream) return;
    this.#since[stream] = offset + bytes.length;
    if (stream === "bundles") this.#large.add(offset, bytes);
    else this.#listener.text(stream, this.#decoders[stream].decode(bytes, { stream: true }));
  }

  /** Returns the values of a bundle, with those that came as bytes before it. */
  #dataOf(display: CodeDisplay): Record<string, unknown> {
    const data = { ...display.data };
    for (const { type, offset, size, form } of display.large ?? []) {
      const bytes = this.#large.take(offset, size);
      if (bytes) data[type] = decoded(bytes, form);
    }
    return data;
  }
}

/** The bytes of large values, until the events that refer to them. */
class LargeValues {
  #chunks: { offset: number; bytes: Uint8Array }[] = [];
  #size = 0;

  add(offset: number, bytes: Uint8Array): void {
    this.#chunks.push({ offset, bytes });
    this.#size += bytes.length;
    while (this.#size > LARGE_MAX) this.#size -= this.#chunks.shift()?.bytes.length ?? 0;
  }

  skip(to: number): void {
    this.#chunks = this.#chunks.filter(({ offset }) => offset >= to);
    this.#size = this.#chunks.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** Returns the bytes of a value and drops them and what is before; undefined if they are not kept. */
  take(offset: number, size: number): Uint8Array | undefined {
    const first = this.#chunks[0];
    const joined = joinBytes(this.#chunks.map(({ bytes }) => bytes));
    const at = offset - (first?.offset ?? 0);
    const end = at + size;
    if (!first || at < 0 || end > joined.length) return undefined;
    this.#chunks = [{ offset: offset + size, bytes: joined.subarray(end) }];
    this.#size = joined.length - end;
    return joined.subarray(at, end);
  }
}

function decoded(bytes: Uint8Array, form: "base64" | "text" | "json"): unknown {
  if (form === "base64") {
    let binary = "";
    for (let at = 0; at < bytes.length; at += 8192)
      binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return btoa(binary);
  }
  const text = new TextDecoder().decode(bytes);
  if (form === "text") return text;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
