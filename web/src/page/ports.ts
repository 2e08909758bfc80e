// Shows a notice when a program in the sandbox opens a port, with a button that opens a preview of it.

import "./style/ports.css";
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Disposable, DisposableList } from "../base/disposables";
import type { Channel } from "../client/channels";
import type { HawseClient } from "../client/client";
import type { OpenPort, PortListResult } from "../wire/methods";
import { byId, setText, within } from "./dom";

/** Selects the port to show: the latest open port that the user has not dismissed. Closing a port removes its dismissal. */
export class PortNotices {
  #open: OpenPort[] = [];
  readonly #dismissed = new Set<number>();

  show(ports: OpenPort[]): void {
    const known = new Set(this.#open.map(({ port }) => port));
    const now = new Set(ports.map(({ port }) => port));
    for (const port of this.#dismissed) if (!now.has(port)) this.#dismissed.delete(port);
    // Ports that were open before stay in front of new ones.
    this.#open = [
      ...ports.filter(({ port }) => known.has(port)),
      ...ports.filter(({ port }) => !known.has(port)),
    ];
  }

  get latest(): OpenPort | undefined {
    return this.#open.findLast(({ port }) => !this.#dismissed.has(port));
  }

  /** Dismisses all open ports. */
  dismiss(): void {
    for (const { port } of this.#open) this.#dismissed.add(port);
  }
}

export interface PortsOptions {
  sandbox: string;
  /** Opens the preview of a port. */
  preview: (port: number) => void;
  /** Gives the focus back to the terminal. */
  focus: () => void;
}

export class PortNotice implements Disposable {
  readonly #client: HawseClient;
  readonly #options: PortsOptions;
  readonly #notices = new PortNotices();
  readonly #disposables = new DisposableList();
  readonly #ports = signal<readonly OpenPort[]>([]);

  /** The ports on which programs listen now. */
  readonly ports: ReadonlySignal<readonly OpenPort[]> = this.#ports;

  constructor(client: HawseClient, options: PortsOptions) {
    this.#client = client;
    this.#options = options;
    this.#disposables.add(client.onUp(() => this.#watch()));
    this.#disposables.listen(byId("port-show"), "click", () => {
      const { latest } = this.#notices;
      if (latest) this.#preview(latest);
    });
    this.#disposables.listen(byId("port-close"), "click", () => {
      this.dismiss();
      options.focus();
    });
    this.#watch();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #watch(): void {
    if (this.#client.welcome?.role === "viewer") return; // a viewer may not expose ports
    const channel: Channel | undefined = this.#client.open(
      "port.watch",
      { sandbox: this.#options.sandbox, params: {} },
      {
        event: (_name, value, cost) => {
          const { ports } = value as PortListResult;
          this.#notices.show(ports);
          this.#ports.value = ports;
          this.#show();
          channel?.consume(cost);
        },
        result: () => {},
        error: () => {}, // the connection was lost: the next one starts a new watch
      },
    );
  }

  #show(): void {
    const { latest } = this.#notices;
    byId("port").hidden = latest === undefined;
    if (latest)
      setText(within(byId("port"), "[data-text]"), `${latest.process} listens on port ${latest.port}`);
  }

  /** Hides the notice until another port is opened. */
  dismiss(): void {
    this.#notices.dismiss();
    this.#show();
  }

  /** Shows the preview of the latest port. */
  #preview({ port }: OpenPort): void {
    this.dismiss();
    this.#options.preview(port);
  }
}
