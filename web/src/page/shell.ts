// The shell that this page shows: create the terminal if it is not there, attach, and start anew when the user wants.

import { type Disposable, DisposableList, Emitter } from "../base/disposables";
import { randomId } from "../base/random-id";
import type { HawseClient } from "../client/client";
import type { Size } from "../terminal/size-proposer";
import type { TerminalChannel } from "../terminal/terminal-channel";
import { HawseError } from "../wire/errors";
import type { CreateTerminal, TerminalInfo } from "../wire/methods";

/** Milliseconds between two looks at how many others are here. */
const LOOK_EVERY = 5_000;

export class Shell implements Disposable {
  readonly #client: HawseClient;
  readonly #channel: TerminalChannel;
  readonly #size: () => Size | undefined;
  readonly #onFailed = new Emitter<HawseError>();
  readonly #onViewers = new Emitter<number>();
  readonly #disposables = new DisposableList();
  #starting = false;

  constructor(client: HawseClient, channel: TerminalChannel, size: () => Size | undefined) {
    this.#client = client;
    this.#channel = channel;
    this.#size = size;
    this.#disposables.add(channel.onOpened(({ viewers }) => this.#onViewers.emit(viewers)));
    const timer = setInterval(() => void this.#look(), LOOK_EVERY);
    this.#disposables.defer(() => clearInterval(timer));
  }

  /** The terminal could not be created. */
  readonly onFailed = this.#onFailed.on;
  readonly onViewers = this.#onViewers.on;

  /** Starts the shell, or joins it where it runs: whoever else pressed the button first has started ours too. */
  async start(): Promise<void> {
    if (this.#starting) return;
    this.#starting = true;
    const { id, sandbox } = this.#channel.address;
    const params: CreateTerminal = { id, ...this.#size() };
    try {
      await this.#client.call("terminal.create", params, { sandbox, key: randomId() });
      this.#channel.follow();
    } catch (problem) {
      if (problem instanceof HawseError) this.#onFailed.emit(problem);
      else throw problem;
    } finally {
      this.#starting = false;
    }
  }

  /** A wish; whether it comes true is told in the stream. */
  proposeSize(size: Size): void {
    if (this.#channel.state.phase !== "live") return;
    const { id, sandbox } = this.#channel.address;
    this.#client.call("terminal.resize", { id, ...size }, { sandbox }).catch(ignore);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #look(): Promise<void> {
    if (document.hidden || this.#channel.state.phase !== "live") return;
    const { id, sandbox } = this.#channel.address;
    const info = await this.#client.call<TerminalInfo>("terminal.get", { id }, { sandbox }).catch(ignore);
    if (info) this.#onViewers.emit(info.viewers);
  }
}

/** What could not be asked now is asked again at the next occasion. */
function ignore(): undefined {
  return undefined;
}
