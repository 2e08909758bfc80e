// Request-response calls. A call with a key runs once, even if it is sent several times, so it's resent whenever the
// connection is lost. A call without a key is never repeated (docs/wire.md section 6).

import { after } from "../base/after";
import type { Disposable } from "../base/disposables";
import { SteadyClock } from "../base/steady-clock";
import { Backoff } from "../connection/backoff";
import type { CallOptions } from "../wire/connection";
import { forCall, HawseError } from "../wire/errors";
import type { GatewayMethods, Methods } from "../wire/methods";
import type { Channel, ChannelHandlers } from "./channels";

export interface CallRequest {
  sandbox?: string;
  /** Idempotency key. A call with a key is repeated if the connection is lost, but runs only once. */
  key?: string;
  /** Seconds since the call was first sent, if an earlier client sent it with the same key. */
  age?: number;
  /** Timeout in seconds, including the wait for a connection. */
  timeout?: number;
}

/** Sandbox and gateway methods, keyed by name. */
export type AllMethods = Methods & GatewayMethods;
export type MethodName = keyof AllMethods;
export type MethodParams<M extends MethodName> = AllMethods[M]["params"];
export type MethodResult<M extends MethodName> = AllMethods[M]["result"];
/** The arguments of a call after the method name. If all parameters are optional, `params` can be omitted. */
export type CallArguments<M extends MethodName> =
  Record<string, never> extends MethodParams<M>
    ? [params?: MethodParams<M>, request?: CallRequest]
    : [params: MethodParams<M>, request?: CallRequest];

/** The client methods that calls use. */
export interface CallSource {
  open(method: string, options: CallOptions, handlers: ChannelHandlers): Channel | undefined;
  /** Calls `fail` if an unsent call has waited for a connection for too long. */
  limitWait(fail: (error: HawseError) => void): Disposable;
  /** How long to repeat a call with a key while its sandbox is unavailable, in seconds. */
  readonly unavailableGiveUp: number;
}

/**
 * How long to wait for the server's `deadline_exceeded` after the timeout before failing the call locally, in
 * milliseconds.
 */
const GRACE = 1_000;
/**
 * The clock that all calls share. It combines two system clocks. A reading is too low only if both have lagged since
 * the previous reading, which is less likely if the clock is read often.
 */
export const clock = new SteadyClock();

/** Returns the seconds since `sentAt`, to be sent as the `age` of a repeated call. */
export function ageSince(sentAt: number): number {
  return (clock.now() - sentAt) / 1000;
}

/** Returns the time on `clock` when an earlier client sent the call; undefined for a new call. */
export function sentBefore({ age }: CallRequest): number | undefined {
  return age === undefined ? undefined : clock.now() - age * 1000;
}

class PendingCall {
  readonly method: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: HawseError) => void;
  readonly backoff = new Backoff();
  readonly #params: object;
  readonly #request: CallRequest;
  readonly #deadline: number | undefined;
  channel: Channel | undefined;
  /** Time on `clock` when the call was first sent. */
  sentAt: number | undefined;
  /** Time on `clock` when the sandbox became unavailable. */
  unavailableSince: number | undefined;
  /** Ends the call when its timeout expires. */
  timeout: Disposable | undefined;
  /** Ends a call that has waited too long for a connection, or repeats a call after a delay. */
  timer: Disposable | undefined;

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
    this.sentAt = sentBefore(request);
    this.#deadline = request.timeout === undefined ? undefined : clock.now() + request.timeout * 1000;
  }

  get keyed(): boolean {
    return this.#request.key !== undefined;
  }

  options(): CallOptions {
    const options: CallOptions = { ...this.#request, params: this.#params };
    if (this.keyed && this.sentAt !== undefined) options.age = ageSince(this.sentAt);
    if (this.#deadline !== undefined)
      options.timeout = Math.max(0.001, (this.#deadline - clock.now()) / 1000);
    return options;
  }
}

export class Calls {
  readonly #source: CallSource;
  readonly #pending = new Set<PendingCall>();
  /** The error that all calls get while none can succeed, for example until the user signs in. */
  #stopped: HawseError | undefined;

  constructor(source: CallSource) {
    this.#source = source;
  }

  call(method: string, params: object, request: CallRequest): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) {
        reject(forCall(this.#stopped, false));
        return;
      }
      const call = new PendingCall(method, params, request, resolve, reject);
      this.#pending.add(call);
      const { timeout = Number.POSITIVE_INFINITY } = request;
      call.timeout = after(timeout * 1000 + GRACE, () => this.#expire(call));
      call.timer = this.#source.limitWait(error => this.#reject(call, error));
      this.#send(call);
    });
  }

  /** Lets calls wait for a connection again after `fail`. */
  resume(): void {
    this.#stopped = undefined;
  }

  connectionOpened(): void {
    for (const call of this.#pending) if (!call.channel) this.#send(call);
  }

  /** Fails every pending call with `error`, and all further calls until `resume` is called. */
  stop(error: HawseError): void {
    this.#stopped = error;
    for (const call of [...this.#pending]) this.#reject(call, forCall(error, call.sentAt !== undefined));
  }

  #send(call: PendingCall): void {
    try {
      call.channel = this.#source.open(call.method, call.options(), {
        result: value => this.#settle(call, () => call.resolve(value)),
        error: error => this.#failed(call, error),
      });
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      this.#reject(call, problem);
      return;
    }
    if (!call.channel) return;
    call.timer?.dispose();
    call.sentAt ??= clock.now();
  }

  #failed(call: PendingCall, error: HawseError): void {
    call.channel = undefined;
    if (!this.#pending.has(call)) return;
    if (!this.#repeats(call, error)) this.#reject(call, error);
    // If there's no connection when the timer fires, `connectionOpened` sends the call later.
    else call.timer = after(call.backoff.next(), () => call.channel ?? this.#send(call));
  }

  /**
   * Returns whether to repeat the call. A lost connection is also reported as `interrupted`; the call then waits
   * indefinitely for the next connection.
   */
  #repeats(call: PendingCall, error: HawseError): boolean {
    if (!call.keyed || !error.retryable) return false;
    if (error.code !== "unavailable") call.unavailableSince = undefined;
    else call.unavailableSince ??= clock.now();
    if (error.code === "interrupted") return true;
    const { unavailableSince } = call;
    return unavailableSince !== undefined && ageSince(unavailableSince) < this.#source.unavailableGiveUp;
  }

  #expire(call: PendingCall): void {
    const admitted = call.sentAt === undefined ? "no" : "unknown";
    call.channel?.cancel();
    this.#reject(
      call,
      new HawseError("deadline_exceeded", `${call.method} exceeded its timeout`, { admitted }),
    );
  }

  #reject(call: PendingCall, error: HawseError): void {
    this.#settle(call, () => call.reject(error));
  }

  #settle(call: PendingCall, outcome: () => void): void {
    if (!this.#pending.delete(call)) return;
    call.timeout?.dispose();
    call.timer?.dispose();
    outcome();
  }
}
