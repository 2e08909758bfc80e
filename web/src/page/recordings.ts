// The recording controls in the header: the red dot that all viewers see while this terminal is recorded, and the
// buttons to record, mark, and list recordings.

import "./style/recordings.css";
import "./style/sheet.css";
import { type Disposable, DisposableList } from "../base/disposables";
import { randomId } from "../base/random-id";
import type { Channel } from "../client/channels";
import type { HawseClient } from "../client/client";
import { HawseError } from "../wire/errors";
import type { RecordingInfo, RecordingListResult } from "../wire/methods";
import { byId } from "./dom";
import { type ListOptions, RecordingsList } from "./recordings-list";
import { NOT_CONNECTED } from "./status";

export interface RecordingsOptions extends ListOptions {
  terminal: string;
  /** Gives the focus back to the terminal. */
  focus: () => void;
}

export class RecordingControl implements Disposable {
  readonly #client: HawseClient;
  readonly #options: RecordingsOptions;
  readonly #list: RecordingsList;
  readonly #disposables = new DisposableList();
  #active: RecordingInfo[] = [];
  /** A press is being processed. */
  #busy = false;

  constructor(client: HawseClient, options: RecordingsOptions) {
    this.#client = client;
    this.#options = options;
    this.#list = new RecordingsList(client, options);
    this.#disposables.add(
      this.#list,
      client.onUp(() => this.#watch()),
    );
    this.#onPress("record", () => this.#startOrStop());
    this.#onPress("mark", () => this.#mark());
    this.#disposables.listen(byId("recordings"), "click", () => void this.#try(() => this.#list.show()));
    this.#watch();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Runs `action` for a press of the button `id`, but not for the second click of a double click. */
  #onPress(id: string, action: () => Promise<void>): void {
    this.#disposables.listen<MouseEvent>(byId(id), "click", event => {
      if (event.detail > 0) this.#options.focus(); // pressed with a pointer; a keyboard user stays on the buttons
      if (event.detail <= 1) void this.#try(action);
    });
  }

  #watch(): void {
    const { sandbox, terminal } = this.#options;
    const channel: Channel | undefined = this.#client.open(
      "recording.watch",
      { sandbox, params: { terminal } },
      {
        event: (_name, value, cost) => {
          this.#show((value as RecordingListResult).recordings);
          channel?.consume(cost);
        },
        result: () => this.#show([]),
        error: () => {}, // the connection was lost: the next one starts a new watch; until then keep the last state
      },
    );
  }

  #show(recordings: RecordingInfo[]): void {
    this.#active = recordings;
    const on = recordings.length > 0;
    const button = byId("record");
    const label = on ? "Stop recording" : "Record this terminal";
    const readOnly = this.#client.welcome?.role === "viewer";
    button.hidden = readOnly;
    byId("mark").hidden = readOnly || !on;
    button.setAttribute("aria-pressed", String(on));
    button.setAttribute("aria-label", label);
    button.title = label;
    const dot = byId("recording");
    dot.hidden = !on;
    dot.title = recordings.some(({ input }) => input)
      ? "This terminal is recorded, including all input"
      : "This terminal is recorded";
  }

  async #startOrStop(): Promise<void> {
    const { sandbox, terminal, toast } = this.#options;
    const request = () => ({ sandbox, key: randomId() });
    if (this.#active.length === 0) {
      await this.#client.call("recording.start", { terminal }, request());
      toast("Recording started. All viewers can see that.");
      return;
    }
    for (const { id } of this.#active) await this.#client.call("recording.stop", { id }, request());
    toast("Recording saved.");
  }

  async #mark(): Promise<void> {
    const { sandbox, toast } = this.#options;
    for (const { id } of this.#active)
      await this.#client.call("recording.mark", { id }, { sandbox, key: randomId() });
    toast("Marker added to the recording.");
  }

  /** Runs `action` and shows its error; does nothing while another one runs. Does not queue it while disconnected. */
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
      this.#options.toast(problem.message || problem.code);
    } finally {
      this.#busy = false;
    }
  }
}
