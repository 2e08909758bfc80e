// This page's shell: attaches to the terminal, creates it if it doesn't exist, and restarts it on request.

import { Emitter } from "../../base/disposables";
import { randomId } from "../../base/random-id";
import type { CallRequest, MethodName, MethodParams } from "../../client/calls";
import type { GatewayClient } from "../../client/client";
import type { Size } from "../../terminal/size-proposer";
import type { TerminalAddress, TerminalChannel } from "../../terminal/terminal-channel";
import { HawseError } from "../../wire/errors";

/** Creates the terminal if it doesn't exist. Rejects with HawseError. */
export async function ensureTerminal(
  client: GatewayClient,
  { id, sandbox }: TerminalAddress,
  size: Size | undefined,
): Promise<void> {
  // The calls have idempotency keys, so they are repeated if the connection is lost.
  try {
    await client.call("terminal.get", { id }, { sandbox, key: randomId() });
  } catch (problem) {
    if (!(problem instanceof HawseError) || problem.code !== "not_found") throw problem;
    await client.call("terminal.create", { id, ...size }, { sandbox, key: randomId() });
  }
}

export type LeaseAction = MethodParams<"terminal.lease">["action"];

export class Shell {
  readonly #client: GatewayClient;
  readonly #channel: TerminalChannel;
  readonly #viewer: string;
  readonly #size: () => Size | undefined;
  readonly #onFailed = new Emitter<HawseError>();
  #starting = false;

  /** `viewer` is the key of this page's viewer. `size` returns the size for a new terminal. */
  constructor(client: GatewayClient, channel: TerminalChannel, viewer: string, size: () => Size | undefined) {
    this.#client = client;
    this.#channel = channel;
    this.#viewer = viewer;
    this.#size = size;
  }

  /** Called when the terminal couldn't be created. */
  readonly onFailed = this.#onFailed.on;

  /** Attaches to the terminal. If it has ended, its last screen is shown. For `exists`, see `ensureTerminal`. */
  async join(exists: Promise<void>): Promise<void> {
    await this.#startOnce(() => exists);
  }

  /** Starts the shell, or attaches to it if another viewer has already started it. */
  async start(): Promise<void> {
    await this.#startOnce(() => this.#create());
  }

  async #create(): Promise<void> {
    const { id } = this.#channel.address;
    await this.#client.call("terminal.create", { id, ...this.#size() }, this.#keyed());
  }

  async #startOnce(work: () => Promise<void>): Promise<void> {
    if (this.#starting) return;
    this.#starting = true;
    try {
      await work();
      this.#channel.follow();
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      // A viewer may not create terminals, but may attach to an existing one.
      if (problem.code === "forbidden") this.#channel.follow();
      else this.#onFailed.emit(problem);
    } finally {
      this.#starting = false;
    }
  }

  /**
   * Proposes `size`. The resulting size arrives in the terminal's stream. With `claim`, it is proposed even if another
   * viewer was active more recently.
   */
  proposeSize(size: Size, claim = false): void {
    if (!this.#channel.people.readOnly)
      void this.#callIfLive("terminal.resize", { ...this.#here(), ...size, ...(claim ? { claim } : {}) });
  }

  /** Announces a change in this viewer's state to the other viewers. */
  updatePresence(change: Omit<MethodParams<"terminal.presence">, "id" | "viewer">): void {
    void this.#callIfLive("terminal.presence", { ...this.#here(), ...change });
  }

  /**
   * Changes the writer lease. Resolves to the error if the server refuses the change. `to` is the public id of another
   * viewer.
   */
  async lease(action: LeaseAction, to?: string): Promise<HawseError | undefined> {
    return await this.#callIfLive("terminal.lease", { ...this.#here(), action, ...(to ? { to } : {}) });
  }

  /** Sends a request with an idempotency key, so that it's repeated if the connection is lost. */
  #keyed(): CallRequest {
    return { sandbox: this.#channel.address.sandbox, key: randomId() };
  }

  /** The parameters that identify the terminal and this viewer. */
  #here(): { id: string; viewer: string } {
    return { id: this.#channel.address.id, viewer: this.#viewer };
  }

  async #callIfLive<M extends "terminal.resize" | "terminal.presence" | "terminal.lease">(
    method: M,
    params: MethodParams<M>,
  ): Promise<HawseError | undefined> {
    if (this.#channel.state.phase !== "live") return undefined;
    const { sandbox } = this.#channel.address;
    const call: Promise<unknown> = this.#client.call<MethodName>(method, params, { sandbox });
    return await call.then(() => undefined).catch(asHawseError);
  }
}

function asHawseError(error: unknown): HawseError {
  if (error instanceof HawseError) return error;
  throw error;
}
