// A terminal that outlives its connections. It attaches on each new connection, continues at the exact byte where it
// stopped, and resends exactly the input that the server hasn't applied (docs/wire.md sections 5 and 9).
//
//   detached ──attach──▶ attaching ──opened──▶ replaying ──live──▶ live ──reseed──▶ replaying
//   attaching, replaying, live ──connection lost, retryable error──▶ attaching
//   … ──result, stale_handle, not_found──▶ ended ──follow──▶ attaching
//   … ──any other error──▶ failed ──follow──▶ attaching

import { type Disposable, Emitter } from "../base/disposables";
import type { Channel, ChannelHandlers } from "../client/channels";
import { Backoff } from "../connection/backoff";
import type { CallOptions } from "../wire/connection";
import type { HawseError } from "../wire/errors";
import { MAX_PAYLOAD, SCREEN } from "../wire/frames";
import type {
  Exit,
  TerminalAttach,
  TerminalAttachResult,
  TerminalOpened,
  TerminalReseed,
  TerminalResized,
  TerminalWaiting,
} from "../wire/methods";
import type { Frame } from "../wire/protocol";
import { InputStream } from "./input-stream";
import { OutputCursor } from "./output-cursor";
import { People } from "./people";
import type { TerminalSink } from "./sink";

/** The parts of a client that a terminal uses. */
export interface ChannelSource {
  open(method: string, options: CallOptions, handlers: ChannelHandlers): Channel | undefined;
  onUp(listener: () => void): Disposable;
}

export interface TerminalAddress {
  sandbox: string;
  id: string;
}

export type TerminalState =
  | { readonly phase: "detached" | "attaching" | "replaying" | "live" }
  /** `replaced` means that a newer instance has this id, and `gone` means that there is no terminal with this id. */
  | { readonly phase: "ended"; readonly why: "exited"; readonly exit: Exit }
  | { readonly phase: "ended"; readonly why: "replaced" | "gone"; readonly exit?: undefined }
  | { readonly phase: "failed"; readonly reason: HawseError };

/**
 * Codes of errors that aren't `retryable`, but that attaching again resolves, because the server then reports its
 * offsets.
 */
const RECOVERABLE_BY_REATTACHING = new Set(["input_gap"]);

export class TerminalChannel implements Disposable {
  readonly address: TerminalAddress;
  readonly people = new People();
  readonly #introduce: () => Partial<TerminalAttach>;
  readonly #source: ChannelSource;
  readonly #cursor: OutputCursor;
  readonly #backoff = new Backoff();
  readonly #connectionOpened: Disposable;
  readonly #onState = new Emitter<TerminalState>();
  readonly #onOpened = new Emitter<TerminalOpened>();
  readonly #onResized = new Emitter<{ cols: number; rows: number }>();
  readonly #onInput = new Emitter<Uint8Array>();
  readonly #onInputLost = new Emitter<number>();
  readonly #onInputRefused = new Emitter<number>();
  readonly #onWaiting = new Emitter<TerminalWaiting>();
  #state: TerminalState = { phase: "detached" };
  #input = new InputStream();
  #instance: string | undefined;
  #info: TerminalOpened | undefined;
  #waiting: TerminalWaiting | undefined;
  #channel: Channel | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `introduce` returns additional parameters for each attach, such as the viewer and its size. */
  constructor(
    source: ChannelSource,
    address: TerminalAddress,
    sink: TerminalSink,
    introduce: () => Partial<TerminalAttach> = () => ({}),
  ) {
    this.#source = source;
    this.#introduce = introduce;
    this.address = address;
    this.#cursor = new OutputCursor(sink);
    this.#connectionOpened = source.onUp(() => this.#open());
  }

  readonly onState = this.#onState.on;
  readonly onOpened = this.#onOpened.on;
  /** Fires when the terminal has a new size. The emulator is resized automatically, at the right byte. */
  readonly onResized = this.#onResized.on;
  /** Fires when input has been queued. */
  readonly onInput = this.#onInput.on;
  /**
   * Fires with the number of input bytes whose outcome is unknown, because the server no longer knows this input
   * stream.
   */
  readonly onInputLost = this.#onInputLost.on;
  /** Fires with the number of input bytes rejected because another viewer holds the writer lease. */
  readonly onInputRefused = this.#onInputRefused.on;
  /** Fires when the program starts waiting for different input, or stops waiting. */
  readonly onWaiting = this.#onWaiting.on;

  get state(): TerminalState {
    return this.#state;
  }

  /** The terminal's record as of the last attach. */
  get info(): TerminalOpened | undefined {
    return this.#info;
  }

  /**
   * Whether the program is waiting for input, as last reported; undefined before the first attach and after the end.
   */
  get waiting(): TerminalWaiting | undefined {
    return this.#waiting;
  }

  /** Offset after the last output byte passed to the emulator. */
  get offset(): number {
    return this.#cursor.offset;
  }

  get input(): Pick<InputStream, "id" | "applied" | "sent" | "end"> {
    return this.#input;
  }

  attach(): void {
    if (this.#state.phase !== "detached") return;
    this.#enter({ phase: "attaching" });
    this.#open();
  }

  /** Attaches to the current instance with this id. The previous instance's output is kept in the scrollback. */
  follow(): void {
    this.detach();
    this.#instance = undefined;
    this.#cursor.reset();
    this.#input = new InputStream();
    this.attach();
  }

  /** Closes the channel. The program in the terminal keeps running. */
  detach(): void {
    this.#leave();
    this.#enter({ phase: "detached" });
  }

  /**
   * Queues input to be sent exactly once, across connections. Returns false if the terminal has ended or the queue is
   * full.
   */
  send(bytes: Uint8Array): boolean {
    const { phase } = this.#state;
    if (phase === "ended" || phase === "failed" || phase === "detached") return false;
    const taken = this.#input.append(bytes);
    this.#pump();
    if (taken) this.#onInput.emit(bytes);
    return taken;
  }

  dispose(): void {
    this.#leave();
    this.#connectionOpened.dispose();
  }

  // ---- attaching

  #leave(): void {
    clearTimeout(this.#timer);
    const channel = this.#channel;
    this.#channel = undefined;
    channel?.cancel();
  }

  /** Opens the channel if it's needed and there is a connection; otherwise, the next `onUp` calls this method again. */
  #open(): void {
    if (this.#state.phase !== "attaching" || this.#channel) return;
    clearTimeout(this.#timer);
    const { id } = this.address;
    const params: TerminalAttach = { ...this.#introduce(), id, input: this.#input.id, emulator: true };
    if (this.#instance !== undefined) params.instance = this.#instance;
    if (this.#cursor.resumable) params.since = this.#cursor.offset;
    const options = { sandbox: this.address.sandbox, params };
    const channel: { current?: Channel | undefined } = {};
    // Events on an abandoned channel are ignored.
    const isCurrent = () => this.#channel !== undefined && this.#channel === channel.current;
    channel.current = this.#source.open("terminal.attach", options, {
      event: (name, value, cost) => {
        channel.current?.consume(cost);
        if (isCurrent()) this.#event(name, value);
      },
      data: (frame, cost) => isCurrent() && this.#data(frame, cost),
      credit: bytes => {
        if (!isCurrent()) return;
        this.#input.credit(bytes);
        this.#pump();
      },
      result: value =>
        isCurrent() &&
        this.#end({ phase: "ended", why: "exited", exit: (value as TerminalAttachResult).exit }),
      error: error => isCurrent() && this.#error(error),
    });
    this.#channel = channel.current;
  }

  #reattach(): void {
    this.#leave();
    this.#enter({ phase: "attaching" });
    this.#timer = setTimeout(() => this.#open(), this.#backoff.next());
  }

  #error(error: HawseError): void {
    this.#channel = undefined;
    if (error.code === "stale_handle") this.#end({ phase: "ended", why: "replaced" });
    else if (error.code === "not_found") this.#end({ phase: "ended", why: "gone" });
    else if (error.code === "lease_held") this.#refused(Number(error.details.applied));
    else if (error.retryable || RECOVERABLE_BY_REATTACHING.has(error.code)) this.#reattach();
    else if (error.code === "invalid_params" && this.#cursor.resumable) {
      // The offset is beyond the end of the terminal's output, so it comes from a different journal. Attach without it.
      this.#cursor.reset();
      this.#reattach();
    } else this.#end({ phase: "failed", reason: error });
  }

  /** Handles rejected input: the server has applied all bytes before `applied`; the rest are dropped. */
  #refused(applied: number): void {
    this.#onInputRefused.emit(this.#input.end - applied);
    this.#input = new InputStream();
    this.#reattach();
  }

  #end(state: TerminalState): void {
    this.#channel = undefined;
    this.#waiting = undefined;
    this.#enter(state);
  }

  // ---- receiving

  #event(name: string, value: unknown): void {
    switch (name) {
      case "opened":
        this.#opened(value as TerminalOpened);
        break;
      case "resized": {
        const { cols, rows } = value as TerminalResized;
        this.#cursor.resize(cols, rows);
        this.#onResized.emit({ cols, rows });
        break;
      }
      case "reseed": {
        const reseed = value as TerminalReseed;
        this.#cursor.snapshot(reseed);
        this.#onResized.emit(reseed);
        this.#enter({ phase: "replaying" });
        break;
      }
      case "answers":
        this.#cursor.answers((value as { answers: boolean }).answers);
        break;
      case "waiting":
        this.#waits(value as TerminalWaiting);
        break;
      case "live":
        this.#cursor.live();
        this.#backoff.reset();
        this.#enter({ phase: "live" });
        break;
      default:
        this.people.event(name, value);
    }
    // `exit` is repeated in the result. Unknown events from newer servers are ignored.
  }

  #opened(opened: TerminalOpened): void {
    if (!this.#input.resume(opened.input_offset ?? 0)) {
      this.#onInputLost.emit(this.#input.end - this.#input.applied);
      this.#input = new InputStream();
      this.#reattach();
      return;
    }
    const afterOther = this.#info !== undefined && this.#info.instance !== opened.instance;
    this.#instance = opened.instance;
    this.#info = opened;
    if (!this.#cursor.opened(opened, afterOther)) {
      this.#cursor.reset();
      this.#reattach();
      return;
    }
    this.people.opened(opened);
    this.#waits(opened.waiting);
    this.#enter({ phase: "replaying" });
    this.#onOpened.emit(opened);
    this.#onResized.emit(opened);
    this.#pump();
  }

  #waits(waiting: TerminalWaiting | undefined): void {
    this.#waiting = waiting;
    if (waiting) this.#onWaiting.emit(waiting);
  }

  #data(frame: Frame, cost: number): void {
    const channel = this.#channel;
    const parsed = () => channel?.consume(cost);
    const placed =
      frame.kind === SCREEN ? this.#cursor.screen(frame, parsed) : this.#cursor.output(frame, parsed);
    if (!placed) this.#reattach();
  }

  // ---- sending

  #pump(): void {
    const { phase } = this.#state;
    // Input isn't sent until `opened` has arrived, because this event contains the server's input offset.
    if (!this.#channel || (phase !== "replaying" && phase !== "live")) return;
    for (;;) {
      const chunk = this.#input.take(Math.min(this.#channel.inputCredit, MAX_PAYLOAD));
      if (!chunk) return;
      this.#channel.input(chunk.offset, chunk.bytes);
    }
  }

  #enter(state: TerminalState): void {
    this.#state = state;
    this.#onState.emit(state);
  }
}
