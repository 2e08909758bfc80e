// Request-response calls. A call with a key runs once however often it is sent, so it is sent again after each
// lost connection; a call without a key is never repeated (docs/wire.md section 6).

import { Backoff } from "../connection/backoff";
import type { CallOptions } from "../wire/connection";
import { HawseError } from "../wire/errors";
import type { GatewayMethods, Methods } from "../wire/methods";
import type { Channel, ChannelHandlers } from "./channels";

export interface CallRequest {
  sandbox?: string;
  /** Idempotency key: the call is repeated after a lost connection, and runs once. */
  key?: string;
  /** Seconds, including the wait for a connection. */
  timeout?: number;
}

/** The methods of a sandbox and those of the gateway, by name. */
export type AllMethods = Methods & GatewayMethods;
export type MethodName = keyof AllMethods;
export type MethodParams<M extends MethodName> = AllMethods[M]["params"];
export type MethodResult<M extends MethodName> = AllMethods[M]["result"];
/** The arguments of a call after the method's name. `params` may be omitted if all of them are optional. */
export type CallArguments<M extends MethodName> =
  Record<string, never> extends MethodParams<M>
    ? [params?: MethodParams<M>, request?: CallRequest]
    : [params: MethodParams<M>, request?: CallRequest];

type Open = (method: string, options: CallOptions, handlers: ChannelHandlers) => Channel | undefined;

/** Milliseconds to wait for the server's own `deadline_exceeded` after the time-out, before failing locally. */
const GRACE = 1_000;

class PendingCall {
  readonly method: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: HawseError) => void;
  readonly backoff = new Backoff();
  readonly #params: object;
  readonly #request: CallRequest;
  readonly #deadline: number | undefined;
  channel: Channel | undefined;
  /** When it was first sent, in milliseconds since 1970; a repeat carries its age. */
  sentAt: number | undefined;
  timers: ReturnType<typeof setTimeout>[] = [];

  constructor(
    method: string,
    params: object,
    request: CallRequest,
    resolve: (value: unknown) => void,
    reject: (error: HawseError) => void,
  ) {
    this.method = method;
    this.resolve = resolve;
    this.reject = reject;
    this.#params = params;
    this.#request = request;
    this.#deadline = request.timeout === undefined ? undefined : Date.now() + request.timeout * 1000;
  }

  get keyed(): boolean {
    return this.#request.key !== undefined;
  }

  options(): CallOptions {
    const options: CallOptions = { ...this.#request, params: this.#params };
    if (this.keyed && this.sentAt !== undefined) options.age = Math.max(0, (Date.now() - this.sentAt) / 1000);
    if (this.#deadline !== undefined) options.timeout = Math.max(0.001, (this.#deadline - Date.now()) / 1000);
    return options;
  }
}

export class Calls {
  readonly #open: Open;
  readonly #pending = new Set<PendingCall>();
  /** Set while no call can succeed, for example until the user signs in. */
  #stopped: HawseError | undefined;

  constructor(open: Open) {
    this.#open = open;
  }

  call(method: string, params: object, request: CallRequest): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) {
        reject(this.#stopped);
        return;
      }
      const call = new PendingCall(method, params, request, resolve, reject);
      this.#pending.add(call);
      if (request.timeout !== undefined) {
        call.timers.push(setTimeout(() => this.#expire(call), request.timeout * 1000 + GRACE));
      }
      this.#send(call);
    });
  }

  /** Lets calls wait for a connection again. */
  resume(): void {
    this.#stopped = undefined;
  }

  connectionOpened(): void {
    for (const call of this.#pending) if (!call.channel) this.#send(call);
  }

  /** Fails every pending call with `error`, and all further calls until `resume`. */
  stop(error: HawseError): void {
    this.#stopped = error;
    for (const call of [...this.#pending]) this.#settle(call, () => call.reject(error));
  }

  #send(call: PendingCall): void {
    if (!this.#pending.has(call)) return;
    call.channel = this.#open(call.method, call.options(), {
      result: value => this.#settle(call, () => call.resolve(value)),
      error: error => this.#failed(call, error),
    });
    if (call.channel) call.sentAt ??= Date.now();
  }

  #failed(call: PendingCall, error: HawseError): void {
    call.channel = undefined;
    // Channels reports a lost connection as `interrupted` as well. If there is no connection when the timer fires,
    // `connectionOpened` sends the call later.
    const away = error.code === "interrupted" || error.code === "unavailable";
    if (call.keyed && away && error.retryable) {
      call.timers.push(setTimeout(() => call.channel ?? this.#send(call), call.backoff.next()));
    } else this.#settle(call, () => call.reject(error));
  }

  #expire(call: PendingCall): void {
    const admitted = call.channel ? "unknown" : "no";
    call.channel?.cancel();
    const error = new HawseError("deadline_exceeded", `${call.method} exceeded its timeout`, { admitted });
    this.#settle(call, () => call.reject(error));
  }

  #settle(call: PendingCall, outcome: () => void): void {
    if (!this.#pending.delete(call)) return;
    for (const timer of call.timers) clearTimeout(timer);
    outcome();
  }
}
