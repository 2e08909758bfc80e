// The recording controls in the header: the red dot that all viewers see while this terminal is recorded, and the
// buttons to record, mark, and list recordings.

import "./style/recordings.css";
import { type Disposable, DisposableList } from "../base/disposables";
import { randomId } from "../base/random-id";
import type { Channel } from "../client/channels";
import type { HawseClient } from "../client/client";
import { HawseError } from "../wire/errors";
import type { RecordingInfo, RecordingListResult } from "../wire/methods";
import { byId } from "./dom";
import { type ListOptions, RecordingsList } from "./recordings-list";

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

  constructor(client: HawseClient, options: RecordingsOptions) {
    this.#client = client;
    this.#options = options;
    this.#list = new RecordingsList(client, options);
    this.#disposables.add(
      this.#list,
      client.onUp(() => this.#watch()),
    );
    this.#disposables.listen<MouseEvent>(byId("record"), "click", event => {
      if (event.detail > 0) options.focus(); // pressed with a pointer; a keyboard user stays on the buttons
      void this.#try(this.#startOrStop());
    });
    this.#disposables.listen<MouseEvent>(byId("mark"), "click", event => {
      if (event.detail > 0) options.focus();
      void this.#try(this.#mark());
    });
    this.#disposables.listen(byId("recordings"), "click", () => void this.#try(this.#list.show()));
    this.#watch();
  }

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

  async #try(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      this.#options.toast(problem.message || problem.code);
    }
  }
}
