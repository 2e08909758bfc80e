// The terminals of the sandbox: the list, and the actions to create and to end them.

import { type ReadonlySignal, signal } from "@preact/signals";
import { type Disposable, DisposableList } from "../../base/disposables";
import { randomId } from "../../base/random-id";
import type { GatewayClient } from "../../client/client";
import { HawseError } from "../../wire/errors";
import type { TerminalCreate, TerminalInfo } from "../../wire/methods";
import { NOT_CONNECTED } from "../status";
import { freeId, lossOf } from "./terminal-list";

/** Milliseconds between two looks at the list while the page is visible: no event reports terminals of others. */
const REFRESH_INTERVAL = 5_000;
/** Milliseconds to wait before a look: programs may change their title often. */
const REFRESH_DELAY = 200;

export interface TerminalsOptions {
  sandbox: string;
  toast: (text: string) => void;
}

export class Terminals implements Disposable {
  readonly #client: GatewayClient;
  readonly #options: TerminalsOptions;
  readonly #disposables = new DisposableList();
  readonly #list = signal<readonly TerminalInfo[]>([]);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #busy = false;

  constructor(client: GatewayClient, options: TerminalsOptions) {
    this.#client = client;
    this.#options = options;
    this.#disposables.add(client.onUp(() => this.refresh()));
    const timer = setInterval(() => document.hidden || this.refresh(), REFRESH_INTERVAL);
    this.#disposables.defer(() => clearInterval(timer));
    this.#disposables.defer(() => clearTimeout(this.#timer));
    this.#disposables.listen(window, "focus", () => this.refresh());
    this.refresh();
  }

  /** Running and ended terminals, as the server listed them last. */
  readonly list: ReadonlySignal<readonly TerminalInfo[]> = this.#list;

  /** Fetches the list again soon, if connected by then. */
  readonly refresh = (): void => {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#client.state.phase === "live") void this.#fetch().catch(ignoreHawseError);
    }, REFRESH_DELAY);
  };

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Creates a terminal in the directory of the terminal `from`, if that exists, and returns its id. */
  async create(from: string | undefined): Promise<string | undefined> {
    return await this.#try(async () => {
      await this.#fetch();
      const taken = new Set(this.#list.value.map(({ id }) => id));
      let id = freeId(taken);
      while (!(await this.#create(id, from))) {
        taken.add(id);
        id = freeId(taken);
      }
      return id;
    });
  }

  /** Returns what would be lost if the terminal were ended now; empty: nothing. undefined: the question failed. */
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
      this.#list.value = this.#list.value.filter(each => each.id !== id);
      return true;
    });
    return done ?? false;
  }

  /** Asks the server: the list does not have a terminal yet that was created just now. */
  async #isRunning(id: string): Promise<boolean> {
    try {
      const { state } = await this.#client.call("terminal.get", { id }, { sandbox: this.#options.sandbox });
      return state === "running";
    } catch (problem) {
      if (problem instanceof HawseError && problem.code === "not_found") return false;
      throw problem;
    }
  }

  async #fetch(): Promise<void> {
    const { sandbox } = this.#options;
    this.#list.value = (await this.#client.call("terminal.list", {}, { sandbox })).terminals;
  }

  /** Returns false if another client has just created a terminal with this id. */
  async #create(id: string, from: string | undefined): Promise<boolean> {
    const { sandbox } = this.#options;
    const here = this.#list.value.find(shown => shown.id === from);
    const create = async (params: TerminalCreate) =>
      (await this.#client.call("terminal.create", params, { sandbox, key: randomId() })).created;
    if (!here) return await create({ id });
    const size = { cols: here.cols, rows: here.rows };
    try {
      return await create({ id, ...size, cwd: here.cwd });
    } catch (problem) {
      // The directory of that terminal may have been removed.
      if (!(problem instanceof HawseError) || problem.code !== "spawn_failed") throw problem;
      return await create({ id, ...size });
    }
  }

  /** Runs `action` and shows its error; does nothing while another one runs. */
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
      this.#options.toast(problem.message || problem.code);
      return undefined;
    } finally {
      this.#busy = false;
    }
  }
}

/** For a refresh in the background: the next one shows the list. */
function ignoreHawseError(problem: unknown): void {
  if (!(problem instanceof HawseError)) throw problem;
}
