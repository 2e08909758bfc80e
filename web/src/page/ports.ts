// A program in the sandbox that listens on a port is told here, once, with a button that shows what it serves.

import "./style/ports.css";
import { type Disposable, DisposableList } from "../base/disposables";
import { randomId } from "../base/random-id";
import type { Channel } from "../client/channels";
import type { HawseClient } from "../client/client";
import { HawseError } from "../wire/errors";
import type { ExposedPort, OpenPort, OpenPorts, PreviewName } from "../wire/methods";
import { byId, setText, within } from "./dom";
import { previewAddress } from "./preview-address";

/** Which open port there is to tell of: the latest that the user has not answered. One that is closed is forgotten. */
export class News {
  #open: OpenPort[] = [];
  readonly #answered = new Set<number>();

  show(ports: OpenPort[]): void {
    const known = new Set(this.#open.map(({ port }) => port));
    const now = new Set(ports.map(({ port }) => port));
    for (const port of this.#answered) if (!now.has(port)) this.#answered.delete(port);
    // Those that were open before stay before those that are new.
    this.#open = [
      ...ports.filter(({ port }) => known.has(port)),
      ...ports.filter(({ port }) => !known.has(port)),
    ];
  }

  get latest(): OpenPort | undefined {
    return this.#open.findLast(({ port }) => !this.#answered.has(port));
  }

  /** All that is open is old news. */
  answer(): void {
    for (const { port } of this.#open) this.#answered.add(port);
  }
}

export interface PortsOptions {
  sandbox: string;
  toast: (text: string) => void;
  /** Gives the focus back to the terminal. */
  focus: () => void;
}

export class PortNotice implements Disposable {
  readonly #client: HawseClient;
  readonly #options: PortsOptions;
  readonly #news = new News();
  readonly #disposables = new DisposableList();

  constructor(client: HawseClient, options: PortsOptions) {
    this.#client = client;
    this.#options = options;
    this.#disposables.add(client.onUp(() => this.#watch()));
    this.#disposables.listen(byId("port-show"), "click", () => void this.#preview());
    this.#disposables.listen(byId("port-close"), "click", () => {
      this.#answer();
      options.focus();
    });
    this.#watch();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #watch(): void {
    if (this.#client.welcome?.role === "viewer") return; // who may only look may not expose
    const channel: Channel | undefined = this.#client.open(
      "port.watch",
      { sandbox: this.#options.sandbox, params: {} },
      {
        event: (_name, value, cost) => {
          this.#news.show((value as OpenPorts).ports);
          this.#show();
          channel?.consume(cost);
        },
        result: () => {},
        error: () => {}, // the line broke: it is watched again on the next
      },
    );
  }

  #show(): void {
    const { latest } = this.#news;
    byId("port").hidden = latest === undefined;
    if (latest)
      setText(within(byId("port"), "[data-text]"), `${latest.process} listens on port ${latest.port}`);
  }

  #answer(): void {
    this.#news.answer();
    this.#show();
  }

  async #preview(): Promise<void> {
    const { sandbox, toast } = this.#options;
    const { latest } = this.#news;
    if (!latest) return;
    const tab = window.open("", "_blank"); // now: browsers open none after a wait
    this.#answer();
    try {
      const [{ host }, { port, token }] = await Promise.all([
        this.#client.call<PreviewName>("preview.host"),
        this.#client.call<ExposedPort>("port.expose", { port: latest.port }, { sandbox, key: randomId() }),
      ]);
      if (!tab) {
        toast("The browser does not allow new tabs here");
        return;
      }
      tab.opener = null; // what is served there is not ours
      tab.location.replace(
        previewAddress(document.baseURI, { host: host ?? undefined, sandbox, port, token }),
      );
    } catch (problem) {
      tab?.close();
      if (!(problem instanceof HawseError)) throw problem;
      toast(problem.message || problem.code);
    }
  }
}
