// The recordings of a terminal: those in progress, and actions to start, stop and mark them.

import { type ReadonlySignal, signal } from "@preact/signals";
import { type Disposable, DisposableList } from "../../base/disposables";
import { randomId } from "../../base/random-id";
import type { Channel } from "../../client/channels";
import type { GatewayClient } from "../../client/client";
import { errorText } from "../../client/error-text";
import { HawseError } from "../../wire/errors";
import type { RecordingInfo, RecordingListResult } from "../../wire/methods";
import { NOT_CONNECTED } from "../status";

export interface RecordingsOptions {
  sandbox: string;
  terminal: string;
  toast: (text: string) => void;
}

export class RecordingControl implements Disposable {
  readonly #client: GatewayClient;
  readonly #options: RecordingsOptions;
  readonly #disposables = new DisposableList();
  readonly #active = signal<readonly RecordingInfo[]>([]);
  /** Whether an action is in progress. */
  #busy = false;

  constructor(client: GatewayClient, options: RecordingsOptions) {
    this.#client = client;
    this.#options = options;
    this.#disposables.add(client.onUp(() => this.#watch()));
    this.#watch();
  }

  /** The recordings of this terminal that are in progress. */
  readonly active: ReadonlySignal<readonly RecordingInfo[]> = this.#active;

  readonly toggle = (): void => void this.#try(() => this.#startOrStop());
  readonly mark = (): void => void this.#try(() => this.#mark());

  dispose(): void {
    this.#disposables.dispose();
  }

  #watch(): void {
    const { sandbox, terminal } = this.#options;
    const channel: Channel | undefined = this.#client.open(
      "recording.watch",
      { sandbox, params: { terminal } },
      {
        event: (_name, value, cost) => {
          this.#active.value = (value as RecordingListResult).recordings;
          channel?.consume(cost);
        },
        result: () => {
          this.#active.value = [];
        },
        error: () => {}, // the last state is kept until the next connection starts a new watch
      },
    );
  }

  async #startOrStop(): Promise<void> {
    const { sandbox, terminal, toast } = this.#options;
    const request = () => ({ sandbox, key: randomId() });
    if (this.#active.value.length === 0) {
      await this.#client.call("recording.start", { terminal }, request());
      toast("Recording started. All viewers can see that.");
      return;
    }
    for (const { id } of this.#active.value) await this.#client.call("recording.stop", { id }, request());
    toast("Recording saved.");
  }

  async #mark(): Promise<void> {
    const { sandbox, toast } = this.#options;
    for (const { id } of this.#active.value)
      await this.#client.call("recording.mark", { id }, { sandbox, key: randomId() });
    toast("Marker added to the recording.");
  }

  /**
   * Runs `action` and shows any error it raises. Does nothing while another action is running. While disconnected,
   * shows a message instead of queueing the action.
   */
  async #try(action: () => Promise<void>): Promise<void> {
    if (this.#busy) return;
    if (this.#client.state.phase !== "live") {
      this.#options.toast(NOT_CONNECTED);
      return;
    }
    this.#busy = true;
    try {
      await action();
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      this.#options.toast(errorText(problem));
    } finally {
      this.#busy = false;
    }
  }
}
