// Follows a run in a code context to its end, even if the connection is lost. The run is started by this client, or is
// another client's run that it attaches to.

import type { Disposable } from "../base/disposables";
import { randomId } from "../base/random-id";
import { HawseError, restarted } from "../wire/errors";
import type {
  CodeDisplay,
  CodeError,
  CodeInputRequest,
  CodeOffsets,
  CodeRun,
  CodeRunResult,
} from "../wire/methods";
import { joinBytes } from "./join-bytes";
import type { Namespace } from "./sandbox";
import type { MethodStream, StreamItem } from "./streams";
import { wasInterrupted } from "./streams";

/** The sandbox methods that run code. */
export interface CodeCalls {
  readonly code: Pick<Namespace<"code">, "run" | "attach">;
}

export interface RunListener {
  /**
   * Called when the request to run the code is sent, and when it is resent after the connection is lost; the run can
   * then have a different id.
   */
  requested(): void;
  /** Called once the run has an id. `source` is the code, if another client started the run. */
  named(run: string, source: string | undefined): void;
  /** The run has started. */
  began(): void;
  text(stream: "stdout" | "stderr", text: string): void;
  display(value: CodeDisplay, data: Record<string, unknown>): void;
  update(value: CodeDisplay, data: Record<string, unknown>): void;
  clear(wait: boolean): void;
  error(error: CodeError): void;
  input(request: CodeInputRequest): void;
  /** Some output is missing because it wasn't read in time. */
  lost?(): void;
  ended(result: CodeRunResult): void;
  /** The run couldn't start, or its output isn't available. */
  failed(error: HawseError): void;
}

/** The code to run, or the id of a run to attach to. */
export type Which = Omit<CodeRun, "since"> | { readonly context: string; readonly run: string };

/** A run's key and, for a repeated request, the seconds since the first request. The first and the repeated request
 * start the same run. */
export interface RunRequest {
  readonly key: string;
  readonly age?: number;
}

/** Maximum number of bytes of large values kept until their event arrives. */
const LARGE_MAX = 33_554_432;
const KINDS = ["", "stdout", "stderr", "bundles"] as const;

type Item = StreamItem<"code.run"> | StreamItem<"code.attach">;

export class RunFollower implements Disposable {
  readonly #box: CodeCalls;
  readonly #which: Which;
  readonly #listener: RunListener;
  readonly #request: RunRequest;
  readonly #since = { stdout: 0, stderr: 0, bundles: 0, events: 0 };
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  readonly #large = new LargeValues();
  #run: string | undefined;
  #began = false;
  #stopped = false;
  #running: MethodStream<"code.run"> | undefined;
  #attached: MethodStream<"code.attach"> | undefined;

  constructor(
    box: CodeCalls,
    which: Which,
    listener: RunListener,
    request: RunRequest = { key: randomId() },
  ) {
    this.#box = box;
    this.#request = request;
    this.#which = which;
    this.#listener = listener;
    if ("run" in which) this.#run = which.run;
    void this.#follow();
  }

  /** Ends the subscription. The run continues. */
  dispose(): void {
    this.#stopped = true;
    this.#running?.cancel();
    this.#attached?.cancel();
  }

  async #follow(): Promise<void> {
    while (!this.#stopped) {
      const stream = this.#open();
      try {
        for await (const item of stream as AsyncIterable<Item>) {
          if (this.#stopped) return;
          this.#take(item);
        }
        const result = (await stream.result) as CodeRunResult;
        if (this.#stopped) return;
        this.#reached(result.end ?? {});
        this.#listener.ended(result);
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
    const which = this.#which;
    if ("run" in which) {
      this.#attached =
        this.#attached?.again({ ...which, since }) ?? this.#box.code.attach({ ...which, since });
      return this.#attached;
    }
    if (!this.#began) this.#run = undefined;
    this.#listener.requested();
    const params = { ...which, since };
    this.#running = this.#running?.again(params) ?? this.#box.code.run(params, this.#request);
    return this.#running;
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
        // If the sandbox was restarted, it has lost its keys and may have run the code again, as another run.
        if (this.#began && item.value.run !== this.#run) throw restarted("the run");
        this.#reached(item.value.from ?? {});
        this.#named(item.value.run, item.value.source ?? undefined);
        if (!this.#began) this.#listener.began();
        this.#began = true;
        return;
      case "truncated":
        this.#reached({ [item.value.stream]: item.value.from });
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

  /** Everything before these offsets has been sent or lost. */
  #reached(offsets: CodeOffsets): void {
    for (const [stream, offset] of Object.entries(offsets) as [keyof CodeOffsets, number][]) {
      if (offset <= this.#since[stream]) continue;
      this.#since[stream] = offset;
      if (stream === "bundles") this.#large.skip(offset);
      this.#listener.lost?.();
    }
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

  /** Returns the values in a bundle, including values whose bytes arrived before it. */
  #dataOf(display: CodeDisplay): Record<string, unknown> {
    const data = { ...display.data };
    for (const { type, offset, size, form } of display.large ?? []) {
      const bytes = this.#large.take(offset, size);
      if (bytes) data[type] = decoded(bytes, form);
    }
    return data;
  }
}

/** The bytes of large values, kept until the events that refer to them arrive. */
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

  /**
   * Returns the bytes of a value, and drops them along with all earlier bytes; returns undefined if they aren't
   * available.
   */
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
