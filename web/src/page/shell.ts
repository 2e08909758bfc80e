// The shell that this page shows: attach to the terminal, create it if it is not there, start anew when the user wants.

import { Emitter } from "../base/disposables";
import { randomId } from "../base/random-id";
import type { HawseClient } from "../client/client";
import type { Size } from "../terminal/size-proposer";
import type { TerminalChannel } from "../terminal/terminal-channel";
import { HawseError } from "../wire/errors";
import type { CreateTerminal } from "../wire/methods";

export class Shell {
  readonly #client: HawseClient;
  readonly #channel: TerminalChannel;
  readonly #viewer: string;
  readonly #size: () => Size | undefined;
  readonly #onFailed = new Emitter<HawseError>();
  #starting = false;

  /** `viewer`: the key of this page's viewer. */
  constructor(client: HawseClient, channel: TerminalChannel, viewer: string, size: () => Size | undefined) {
    this.#client = client;
    this.#channel = channel;
    this.#viewer = viewer;
    this.#size = size;
  }

  /** The terminal could not be created. */
  readonly onFailed = this.#onFailed.on;

  /** Joins the terminal, even one that has ended: its last screen may be what is looked for. Starts it if there is none. */
  async join(): Promise<void> {
    const { id } = this.#channel.address;
    await this.#once(async () => {
      try {
        await this.#call("terminal.get", { id });
      } catch (problem) {
        if (!(problem instanceof HawseError) || problem.code !== "not_found") throw problem;
        await this.#create();
      }
    });
  }

  /** Starts the shell, or joins it where it runs: whoever else pressed the button first has started ours too. */
  async start(): Promise<void> {
    await this.#once(() => this.#create());
  }

  async #create(): Promise<void> {
    const params: CreateTerminal = { id: this.#channel.address.id, ...this.#size() };
    await this.#call("terminal.create", params);
  }

  async #once(work: () => Promise<void>): Promise<void> {
    if (this.#starting) return;
    this.#starting = true;
    try {
      await work();
      this.#channel.follow();
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      // Whoever may only look joins what is there.
      if (problem.code === "forbidden") this.#channel.follow();
      else this.#onFailed.emit(problem);
    } finally {
      this.#starting = false;
    }
  }

  /** What fits here. Whether the terminal takes that size is told in the stream. */
  proposeSize(size: Size): void {
    if (!this.#channel.people.readOnly) void this.#say("terminal.resize", size);
  }

  /** Something about us that the others are to see. */
  tell(change: { name?: string; focus?: boolean; at?: { x: number; y: number } | null }): void {
    void this.#say("terminal.presence", change);
  }

  /** Type alone, or let everybody type again. Resolves with what was refused. */
  async lease(action: "take" | "release"): Promise<HawseError | undefined> {
    return await this.#say("terminal.lease", { action });
  }

  /** Asked again after a broken line. */
  async #call(method: string, params: object): Promise<void> {
    await this.#client.call(method, params, { sandbox: this.#channel.address.sandbox, key: randomId() });
  }

  async #say(method: string, params: object): Promise<HawseError | undefined> {
    if (this.#channel.state.phase !== "live") return undefined;
    const { id, sandbox } = this.#channel.address;
    const call = this.#client.call(method, { id, viewer: this.#viewer, ...params }, { sandbox });
    return await call.then(() => undefined).catch(problem);
  }
}

function problem(error: unknown): HawseError {
  if (error instanceof HawseError) return error;
  throw error;
}
