// Calls that send events or bytes, as async iterables. A stream belongs to one connection: if the connection is lost,
// the stream ends with `interrupted`. If a stream can continue at an offset, the caller reopens it, as `sandbox.ts`
// does.

import { type Disposable, DisposableList } from "../base/disposables";
import type { CallOptions } from "../wire/connection";
import { forCall, HawseError, interrupted } from "../wire/errors";
import { MAX_PAYLOAD } from "../wire/frames";
import {
  type AllMethods,
  ageSince,
  type CallRequest,
  clock,
  type MethodName,
  type MethodParams,
  type MethodResult,
  sentBefore,
} from "./calls";
import type { Channel, ChannelHandlers } from "./channels";

/**
 * Bytes from a stream. `kind` is 1 for the first byte stream (output, stdout), 2 for the second (stderr), and 3 for a
 * screen.
 */
export interface StreamData {
  readonly event: "data";
  readonly kind: number;
  /** Absolute position of the first byte in its stream. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

type Events<M extends MethodName> = AllMethods[M]["events"];

/** An item in a stream: either one of the method's events, with its value, or bytes. */
export type StreamItem<M extends MethodName> =
  | { [E in keyof Events<M> & string]: { readonly event: E; readonly value: Events<M>[E] } }[keyof Events<M> &
      string]
  | StreamData;

/** The client methods that a stream uses. */
export interface StreamSource {
  open(method: string, options: CallOptions, handlers: ChannelHandlers): Channel | undefined;
  onUp(listener: () => void): Disposable;
  /** Why no call can succeed now. */
  readonly refusal: HawseError | undefined;
  onRefusal(listener: (refusal: HawseError) => void): Disposable;
  limitWait(fail: (error: HawseError) => void): Disposable;
}

interface Item {
  readonly item: unknown;
  readonly cost: number;
}

/**
 * A call in progress. `for await` yields its events and bytes; leaving the loop cancels the call. `await` waits for its
 * result and drops its events and bytes. The number of unread bytes is limited by the channel's credit.
 */
export class MethodStream<M extends MethodName>
  implements AsyncIterable<StreamItem<M>>, PromiseLike<MethodResult<M>>
{
  readonly method: M;
  readonly #source: StreamSource;
  readonly #request: CallRequest;
  readonly #queue: Item[] = [];
  readonly #result: Promise<MethodResult<M>>;
  /** Set while the call is waiting for a connection. */
  readonly #waiting = new DisposableList();
  /** Resolved when an item or credit arrives or the call ends. */
  readonly #waiters: (() => void)[] = [];
  #resolve!: (value: MethodResult<M>) => void;
  #reject!: (error: HawseError) => void;
  #channel: Channel | undefined;
  #ended = false;
  #error: HawseError | undefined;
  #dropping = false;
  #sent = 0;

  /** Time when the call was first sent; undefined until then. */
  #sentAt: number | undefined;

  constructor(
    source: StreamSource,
    method: M,
    params: object,
    request: CallRequest = {},
    earlier?: MethodStream<M>,
  ) {
    this.method = method;
    this.#source = source;
    this.#request = request;
    this.#sentAt = earlier === undefined ? sentBefore(request) : earlier.#sentAt;
    this.#result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#result.catch(() => {}); // prevents an unhandled rejection; the loop over the stream throws the error
    const options = { ...request, params };
    this.#waiting.add(source.onUp(() => this.#open(options)));
    this.#open(options);
    if (this.#channel || this.#ended) return;
    this.#waiting.add(source.onRefusal(refusal => this.#end(forCall(refusal, this.#sentAt !== undefined))));
    if (earlier === undefined) this.#waiting.add(source.limitWait(error => this.#end(error)));
    if (this.#ended) this.#unsubscribe();
  }

  /**
   * Repeats the call after the connection is lost, with different parameters to continue where it stopped. The repeated
   * call waits indefinitely for the next connection. If it has a key, the server treats it as the same call.
   */
  again(params: MethodParams<M>): MethodStream<M> {
    return new MethodStream(this.#source, this.method, params, this.#request, this);
  }

  /** Returns the result of the call. Throws HawseError. */
  get result(): Promise<MethodResult<M>> {
    return this.#result;
  }

  // biome-ignore lint/suspicious/noThenProperty: a stream can be awaited for its result
  then<A, B = never>(
    resolved?: ((value: MethodResult<M>) => A | PromiseLike<A>) | null,
    rejected?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#dropping = true;
    for (const { cost } of this.#queue.splice(0)) this.#channel?.consume(cost);
    return this.#result.then(resolved, rejected);
  }

  async *[Symbol.asyncIterator](): AsyncIterator<StreamItem<M>> {
    try {
      for (;;) {
        const next = this.#queue.shift();
        if (next) {
          yield next.item as StreamItem<M>;
          // An item is consumed only once the loop has processed it, so the loop controls the sender's pace.
          this.#channel?.consume(next.cost);
        } else if (this.#ended) {
          if (this.#error) throw this.#error;
          return;
        } else await this.#change();
      }
    } finally {
      this.cancel();
    }
  }

  /** The position of the next input byte. To continue earlier input, set it before the first `write`. */
  get inputOffset(): number {
    return this.#sent;
  }

  set inputOffset(offset: number) {
    this.#sent = offset;
  }

  /**
   * Sends input, and returns once the server has granted credit for all of it. Throws HawseError if the call has ended.
   */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const credit = Math.min(this.#channel?.inputCredit ?? 0, MAX_PAYLOAD, bytes.length - at);
      if (this.#ended) throw this.#error ?? new HawseError("exited", `${this.method} has ended`);
      if (!this.#channel || credit === 0) {
        await this.#change();
        continue;
      }
      this.#channel.input(this.#sent, bytes.subarray(at, at + credit));
      this.#sent += credit;
      at += credit;
    }
  }

  /** Ends the input. */
  end(): void {
    this.#channel?.end();
  }

  /** Ends the subscription, but not the command or process being followed. */
  cancel(): void {
    if (this.#ended) return;
    this.#channel?.cancel();
    this.#end(new HawseError("cancelled", `${this.method} was cancelled`));
  }

  #open(options: CallOptions): void {
    if (this.#channel || this.#ended) return;
    const repeated = options.key !== undefined && this.#sentAt !== undefined;
    const age = repeated ? { age: ageSince(this.#sentAt as number) } : {};
    try {
      this.#channel = this.#source.open(this.method, { ...options, ...age }, this.#handlers());
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      this.#end(problem);
    }
    if (!this.#channel) return;
    this.#sentAt ??= clock.now();
    this.#unsubscribe();
  }

  #handlers(): ChannelHandlers {
    return {
      event: (event, value, cost) => this.#push({ item: { event, value }, cost }),
      data: ({ kind, offset, payload }, cost) =>
        this.#push({ item: { event: "data", kind, offset, bytes: payload }, cost }),
      credit: () => this.#notify(),
      result: value => this.#end(undefined, value as MethodResult<M>),
      error: error => {
        const refusal = wasInterrupted(error) ? this.#source.refusal : undefined;
        this.#end(refusal ? forCall(refusal, true) : error);
      },
    };
  }

  #push(item: Item): void {
    if (this.#ended) return;
    if (this.#dropping) this.#channel?.consume(item.cost);
    else this.#queue.push(item);
    this.#notify();
  }

  #end(error: HawseError | undefined, value?: MethodResult<M>): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#unsubscribe();
    if (error) this.#reject(error);
    else this.#resolve(value as MethodResult<M>);
    this.#notify();
  }

  #unsubscribe(): void {
    this.#waiting.dispose();
    this.#notify();
  }

  #change(): Promise<void> {
    return new Promise(resolve => this.#waiters.push(resolve));
  }

  #notify(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

/** Returns whether the connection was lost. If so, a call that can continue at an offset can be repeated. */
export function wasInterrupted(error: unknown): boolean {
  return error instanceof HawseError && error.code === interrupted("").code;
}
