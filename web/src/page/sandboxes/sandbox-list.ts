// The list of sandboxes, with a live row for each one, in the terminal page's dialog and on the page that lists all
// sandboxes.

import type { Disposable } from "../../base/disposables";
import type { GatewayClient } from "../../client/client";
import { errorText } from "../../client/error-text";
import type { HawseError } from "../../wire/errors";
import type { SandboxInfo } from "../../wire/methods";
import { SandboxRow } from "./sandbox-row";
import { SandboxTable } from "./sandbox-table";

/** Details to show next to the row. */
export interface Extension extends Disposable {
  update(info: SandboxInfo): void;
}

export interface SandboxListOptions {
  readonly element: HTMLElement;
  /** Returns the address of the sandbox with this id. */
  readonly href: (id: string) => string;
  /** Id of the sandbox that the page is showing, if any. */
  readonly current: string | undefined;
  /** Called after each change. */
  readonly changed: () => void;
  /** Called when the row that had the keyboard focus has been removed. */
  readonly keepFocus: () => void;
  readonly extend?: (row: SandboxRow, info: SandboxInfo) => Extension;
}

export class SandboxList implements Disposable {
  readonly #client: GatewayClient;
  readonly #options: SandboxListOptions;
  readonly #rows = new Map<string, { row: SandboxRow; more: Extension | undefined }>();
  #table: SandboxTable | undefined;

  constructor(client: GatewayClient, options: SandboxListOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Fills the list and keeps it up to date until disposed of. After that, it can be started again. */
  start(): void {
    this.#table ??= new SandboxTable(this.#client, () => this.#update());
    this.#update();
  }

  dispose(): void {
    this.#table?.dispose();
    this.#table = undefined;
    for (const id of [...this.#rows.keys()]) this.#drop(id);
  }

  get readOnly(): boolean {
    return this.#client.welcome?.role === "viewer";
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Whether the gateway has sent all sandboxes. */
  get complete(): boolean {
    return this.#table?.complete === true;
  }

  get error(): HawseError | undefined {
    return this.#table?.error;
  }

  /** A sentence about the list; empty if there is nothing to say. */
  get status(): string {
    const { error } = this;
    if (error) return `The list is not available: ${errorText(error)}`;
    if (!this.complete) return "Loading…";
    return this.size ? "" : "There are no sandboxes.";
  }

  #update(): void {
    const sandboxes = this.#table?.sandboxes ?? [];
    const ids = new Set(sandboxes.map(({ id }) => id));
    for (const id of [...this.#rows.keys()]) if (!ids.has(id)) this.#remove(id);
    for (const [index, info] of sandboxes.entries()) {
      if (!this.#rows.has(info.id)) this.#add(info, index);
      const { row, more } = this.#rows.get(info.id) ?? {};
      row?.update(info);
      more?.update(info);
    }
    this.#options.changed();
  }

  #add(info: SandboxInfo, index: number): void {
    const { element, href, current, extend } = this.#options;
    const row = new SandboxRow(this.#client, info, {
      href: href(info.id),
      current: info.id === current,
      mayAct: () => !this.readOnly,
    });
    this.#rows.set(info.id, { row, more: extend?.(row, info) });
    element.insertBefore(row.element, element.children[index] ?? null);
  }

  #remove(id: string): void {
    const hadFocus = this.#rows.get(id)?.row.element.contains(document.activeElement);
    this.#drop(id);
    if (hadFocus) this.#options.keepFocus();
  }

  #drop(id: string): void {
    const { row, more } = this.#rows.get(id) ?? {};
    more?.dispose();
    row?.dispose();
    this.#rows.delete(id);
  }
}
