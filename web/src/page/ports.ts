// Shows a notice when a program in the sandbox opens a port, with a button that opens a preview.

import "./style/ports.css";
import { effect, type Signal } from "@preact/signals";
import { type Disposable, DisposableList } from "../base/disposables";
import { byId, setText, within } from "../base/dom";
import type { Channel } from "../client/channels";
import type { GatewayClient } from "../client/client";
import { leavesOf } from "../frame/tree";
import type { Workspace } from "../frame/workspace";
import type { OpenPort, PortListResult } from "../wire/methods";

/**
 * Selects which port to show: the latest open port that the user hasn't dismissed and that has no preview open on the
 * page. Once a port is closed, it no longer counts as dismissed.
 */
export class PortNotices {
  #open: OpenPort[] = [];
  readonly #dismissed: Set<number>;
  readonly #shown = new Set<number>();
  /** The ports that have a preview in one of the page's panes. */
  previewed: ReadonlySet<number> = new Set();

  constructor(dismissed: Iterable<number> = []) {
    this.#dismissed = new Set(dismissed);
  }

  /** The ports whose notices other pages don't show: the user has dismissed them, or this page has shown them. */
  get seen(): readonly number[] {
    return [...new Set([...this.#dismissed, ...this.#shown])];
  }

  /** Records that this page shows a port's notice, so that other pages don't show it. */
  mark(port: number): void {
    this.#shown.add(port);
  }

  show(ports: OpenPort[]): void {
    const known = new Set(this.#open.map(({ port }) => port));
    const now = new Set(ports.map(({ port }) => port));
    for (const ports of [this.#dismissed, this.#shown])
      for (const port of ports) if (!now.has(port)) ports.delete(port);
    // Ports that were in the previous list stay ahead of new ones.
    this.#open = [
      ...ports.filter(({ port }) => known.has(port)),
      ...ports.filter(({ port }) => !known.has(port)),
    ];
  }

  get latest(): OpenPort | undefined {
    return this.#open.findLast(({ port }) => !this.#dismissed.has(port) && !this.previewed.has(port));
  }

  /** Marks all ports that are open now as dismissed, so that they aren't offered again. */
  dismiss(): void {
    for (const { port } of this.#open) this.#dismissed.add(port);
  }
}

export interface PortsOptions {
  sandbox: string;
  workspace: Workspace;
  /** The ports that programs are currently listening on. */
  ports: Signal<readonly OpenPort[]>;
  /** Stores the ports that were shown, so that other pages don't show them. Throws if the browser doesn't allow it. */
  storage: () => Storage;
  /** Opens a preview of a port. */
  preview: (port: number) => void;
  /** Moves the focus back to the terminal. */
  focus: () => void;
}

export class PortNotice implements Disposable {
  readonly #client: GatewayClient;
  readonly #options: PortsOptions;
  readonly #notices: PortNotices;
  readonly #key: string;
  readonly #disposables = new DisposableList();

  constructor(client: GatewayClient, options: PortsOptions) {
    this.#client = client;
    this.#options = options;
    this.#key = `hawse.ports.${options.sandbox}`;
    this.#notices = new PortNotices(this.#stored());
    this.#disposables.defer(
      effect(() => {
        const leaves = options.workspace.tabs.value.flatMap(({ tree }) => leavesOf(tree));
        const previews = leaves.filter(({ kind }) => kind === "preview");
        this.#notices.previewed = new Set(previews.map(({ state }) => Number(state.port)));
        this.#show();
      }),
    );
    this.#disposables.add(client.onUp(() => this.#watch()));
    this.#disposables.listen(byId("port-show"), "click", () => {
      const { latest } = this.#notices;
      if (latest) options.preview(latest.port);
    });
    this.#disposables.listen(byId("port-close"), "click", () => {
      this.#dismiss();
      options.focus();
    });
    this.#watch();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #watch(): void {
    if (this.#client.welcome?.role === "viewer") return; // viewers may not expose ports, so they aren't offered any
    const channel: Channel | undefined = this.#client.open(
      "port.watch",
      { sandbox: this.#options.sandbox, params: {} },
      {
        event: (_name, value, cost) => {
          const { ports } = value as PortListResult;
          this.#notices.show(ports);
          this.#options.ports.value = ports;
          this.#show();
          channel?.consume(cost);
        },
        result: () => {},
        error: () => {}, // the next connection starts a new watch
      },
    );
  }

  #show(): void {
    const { latest } = this.#notices;
    byId("port").hidden = latest === undefined;
    if (latest) {
      setText(within(byId("port"), "[data-text]"), `${latest.process} listens on port ${latest.port}`);
      this.#notices.mark(latest.port);
    }
    this.#store();
  }

  /** Hides the notice until another port is opened. */
  #dismiss(): void {
    this.#notices.dismiss();
    this.#show();
  }

  #stored(): number[] {
    try {
      const found: unknown = JSON.parse(this.#options.storage().getItem(this.#key) ?? "[]");
      return Array.isArray(found) ? found.filter(Number.isInteger) : [];
    } catch {
      return [];
    }
  }

  #store(): void {
    try {
      this.#options.storage().setItem(this.#key, JSON.stringify(this.#notices.seen));
    } catch {
      // The storage is full or disabled, so other pages show the notice again.
    }
  }
}
