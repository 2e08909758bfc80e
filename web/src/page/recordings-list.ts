// A dialog with the sandbox's recordings: play, download, delete.

import "./style/sheet.css";
import { formatSize, formatTime } from "../base/format";
import type { HawseClient } from "../client/client";
import { HawseError } from "../wire/errors";
import type { RecordingInfo } from "../wire/methods";
import { iconButton } from "./dom";
import { downloadRecording } from "./download";

const ICON_PATHS = {
  download: "M8 2v8M4.8 7 8 10.2 11.2 7M2.5 13.5h11",
  delete: "M3 4h10M6 4V2.5h4V4M4.5 4l.6 9.500h5.800l.6-9.500",
};

export interface ListOptions {
  sandbox: string;
  /** Returns a new ticket for a download. */
  ticket: () => Promise<string>;
  toast: (text: string) => void;
  /** The dialog has closed. */
  closed: () => void;
}

export class RecordingsList {
  readonly #client: HawseClient;
  readonly #options: ListOptions;
  readonly #dialog = document.createElement("dialog");
  readonly #body = document.createElement("div");

  constructor(client: HawseClient, options: ListOptions) {
    this.#client = client;
    this.#options = options;
    this.#dialog.className = "sheet recordings";
    this.#dialog.setAttribute("aria-label", "Recordings");
    const head = document.createElement("header");
    const title = document.createElement("h2");
    title.textContent = "Recordings";
    const close = iconButton("Close", "M4 4l8 8M12 4l-8 8");
    close.addEventListener("click", () => this.#dialog.close());
    head.append(title, close);
    this.#dialog.append(head, this.#body);
    this.#dialog.addEventListener("click", event => {
      if (event.target === this.#dialog) this.#dialog.close();
    });
    this.#dialog.addEventListener("close", () => {
      this.dispose();
      options.closed();
    });
    document.body.append(this.#dialog);
  }

  async show(): Promise<void> {
    await this.#fill();
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  dispose(): void {
    this.#dialog.remove();
  }

  async #fill(): Promise<void> {
    const { sandbox } = this.#options;
    const { recordings } = await this.#client.call("recording.list", {}, { sandbox });
    const list = document.createElement("ul");
    list.append(...recordings.map(info => this.#item(info)));
    const empty = document.createElement("p");
    empty.className = "empty";
    empty.textContent = "There are no recordings yet.";
    this.#body.replaceChildren(recordings.length ? list : empty);
  }

  #item(info: RecordingInfo): HTMLElement {
    const { sandbox, ticket } = this.#options;
    const item = document.createElement("li");
    const link = document.createElement("a");
    const url = new URL(".", location.href);
    url.searchParams.set("recording", info.id);
    url.searchParams.set("sandbox", sandbox);
    link.href = url.href;
    const name = document.createElement("strong");
    name.textContent = info.title || info.terminal;
    const facts = document.createElement("small");
    facts.textContent = describe(info);
    link.append(name, facts);
    const download = iconButton("Download", ICON_PATHS.download);
    download.addEventListener("click", () => void this.#try(downloadRecording(sandbox, info.id, ticket)));
    const remove = iconButton("Delete", ICON_PATHS.delete);
    remove.addEventListener("click", () => void this.#delete(info));
    item.append(link, download);
    if (this.#client.welcome?.role !== "viewer") item.append(remove);
    return item;
  }

  async #delete(info: RecordingInfo): Promise<void> {
    const { sandbox } = this.#options;
    if (!confirm(`Delete this recording of ${info.terminal}?`)) return;
    await this.#try(this.#client.call("recording.delete", { id: info.id }, { sandbox }));
    await this.#try(this.#fill());
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

export function describe(info: RecordingInfo): string {
  const facts = [
    new Date(info.started * 1000).toLocaleString(),
    info.state === "recording" ? "recording now" : formatTime(info.duration),
    formatSize(info.size),
  ];
  if (info.input) facts.push("with input");
  if (info.truncated) facts.push("incomplete");
  return facts.join(" · ");
}
