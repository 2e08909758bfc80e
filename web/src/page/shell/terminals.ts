// The sandbox's terminals: a list of them, and actions to create and end them.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Disposable } from "../../base/disposables";
import { randomId } from "../../base/random-id";
import type { GatewayClient } from "../../client/client";
import { errorText } from "../../client/error-text";
import { MethodStream } from "../../client/streams";
import { follow } from "../../views/follow";
import { HawseError } from "../../wire/errors";
import type { TerminalCreate, TerminalInfo } from "../../wire/methods";
import { NOT_CONNECTED } from "../status";
import { freeId, lossOf } from "./terminal-list";

export interface TerminalsOptions {
  sandbox: string;
  toast: (text: string) => void;
}

export class Terminals implements Disposable {
  readonly #client: GatewayClient;
  readonly #options: TerminalsOptions;
  readonly #onUp: Disposable;
  /** The watch of the terminal list; undefined after an error, until the next connection starts another one. */
  #watch: Disposable | undefined;
  readonly #all = signal<readonly TerminalInfo[]>([]);
  /** Id of the terminal that is being created. Its place isn't known yet, so it isn't in the list. */
  readonly #creating = signal<string | undefined>(undefined);
  #busy = false;

  constructor(client: GatewayClient, options: TerminalsOptions) {
    this.#client = client;
    this.#options = options;
    this.#onUp = client.onUp(() => this.#follow());
    this.#follow();
  }

  /** Running and ended terminals. Empty until the first connection. */
  readonly list: ReadonlySignal<readonly TerminalInfo[]> = computed(() =>
    this.#all.value.filter(({ id }) => id !== this.#creating.value),
  );

  dispose(): void {
    this.#onUp.dispose();
    this.#watch?.dispose();
  }

  /**
   * Creates a terminal and passes its id to `open`. The terminal starts in the directory of the terminal `from`, if that
   * exists.
   */
  async create(from: string | undefined, open: (id: string) => void): Promise<void> {
    await this.#try(async () => {
      // The list can be up to a second old, but the directory must be the current one.
      const { sandbox } = this.#options;
      const { terminals } = await this.#client.call("terminal.list", {}, { sandbox });
      const taken = new Set(terminals.map(({ id }) => id));
      const here = terminals.find(({ id }) => id === from);
      let id = freeId(taken);
      try {
        this.#creating.value = id;
        while (!(await this.#create(id, here))) {
          taken.add(id);
          id = freeId(taken);
          this.#creating.value = id;
        }
        open(id);
      } finally {
        this.#creating.value = undefined;
      }
    });
  }

  /**
   * Returns what would be lost by ending the terminal; empty if nothing would be lost, undefined if the request failed.
   */
  async lossOf(id: string): Promise<string | undefined> {
    return await this.#try(async () => {
      if (!(await this.#isRunning(id))) return "";
      const { sandbox } = this.#options;
      return lossOf(await this.#client.call("terminal.history", { id, limit: 1 }, { sandbox })) ?? "";
    });
  }

  /** Ends the terminal. Returns whether it has ended. */
  async end(id: string): Promise<boolean> {
    const done = await this.#try(async () => {
      const request = { sandbox: this.#options.sandbox, key: randomId() };
      await this.#client.call("terminal.kill", { id }, request);
      return true;
    });
    return done ?? false;
  }

  #follow(): void {
    this.#watch ??= follow({
      open: () => new MethodStream(this.#client, "terminal.watch", {}, { sandbox: this.#options.sandbox }),
      item: item => {
        if (item.event === "terminals") this.#all.value = item.value.terminals;
      },
      failed: () => {
        this.#watch = undefined;
      },
    });
  }

  /** Asks the server, because the list doesn't include a terminal that was just created. */
  async #isRunning(id: string): Promise<boolean> {
    try {
      const { state } = await this.#client.call("terminal.get", { id }, { sandbox: this.#options.sandbox });
      return state === "running";
    } catch (problem) {
      if (problem instanceof HawseError && problem.code === "not_found") return false;
      throw problem;
    }
  }

  /** Returns false if another client has just created a terminal with this id. */
  async #create(id: string, here: TerminalInfo | undefined): Promise<boolean> {
    const { sandbox } = this.#options;
    const create = async (params: TerminalCreate) =>
      (await this.#client.call("terminal.create", params, { sandbox, key: randomId() })).created;
    if (!here) return await create({ id });
    const size = { cols: here.cols, rows: here.rows };
    try {
      return await create({ id, ...size, cwd: here.cwd });
    } catch (problem) {
      // If the directory has been removed, the terminal starts in the default directory.
      if (!(problem instanceof HawseError) || problem.code !== "spawn_failed") throw problem;
      return await create({ id, ...size });
    }
  }

  /** Runs `action` and shows any error it raises. Does nothing while another action is running. */
  async #try<T>(action: () => Promise<T>): Promise<T | undefined> {
    if (this.#busy) return undefined;
    if (this.#client.state.phase !== "live") {
      this.#options.toast(NOT_CONNECTED);
      return undefined;
    }
    this.#busy = true;
    try {
      return await action();
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      this.#options.toast(errorText(problem));
      return undefined;
    } finally {
      this.#busy = false;
    }
  }
}
