// The dialog with the sandboxes of the gateway: open, create, start, stop and delete them.

import "./style/sheet.css";
import "./style/sandboxes.css";
import { type Disposable, DisposableList } from "../base/disposables";
import type { HawseClient } from "../client/client";
import { sandboxLink } from "./address";
import { byId, setText } from "./dom";
import { SandboxForm } from "./sandbox-form";
import { SandboxRow } from "./sandbox-row";
import { SandboxTable } from "./sandbox-table";

export class SandboxesDialog implements Disposable {
  readonly #client: HawseClient;
  /** Id of the sandbox that the page shows. */
  readonly #current: string;
  readonly #disposables = new DisposableList();
  readonly #dialog = byId<HTMLDialogElement>("sandboxes-dialog");
  readonly #list = byId("sandboxes-list");
  readonly #rows = new Map<string, SandboxRow>();
  readonly #form: SandboxForm;
  /** Exists while the dialog is open. */
  #table: SandboxTable | undefined;

  constructor(client: HawseClient, current: string) {
    this.#client = client;
    this.#current = current;
    this.#form = new SandboxForm(client, ({ id }) => location.assign(sandboxLink(location.href, id)));
    this.#disposables.add(this.#form);
    this.#disposables.listen(byId("sandboxes-close"), "click", () => this.#dialog.close());
    this.#disposables.listen(this.#dialog, "click", event => {
      if (event.target === this.#dialog) this.#dialog.close(); // the backdrop
    });
    this.#disposables.listen(this.#dialog, "close", () => this.#stopWatching());
  }

  show(): void {
    if (this.#dialog.open) return;
    this.#form.setOpen(false);
    byId("sandboxes-new").hidden = this.#readOnly;
    this.#table = new SandboxTable(this.#client, () => this.#update());
    this.#update();
    this.#dialog.showModal();
  }

  dispose(): void {
    this.#dialog.close();
    this.#stopWatching();
    this.#disposables.dispose();
  }

  get #readOnly(): boolean {
    return this.#client.welcome?.role === "viewer";
  }

  #stopWatching(): void {
    this.#table?.dispose();
    this.#table = undefined;
    for (const row of this.#rows.values()) row.dispose();
    this.#rows.clear();
  }

  #update(): void {
    if (!this.#table) return;
    const { sandboxes, complete, error } = this.#table;
    const ids = new Set(sandboxes.map(({ id }) => id));
    for (const [id, row] of this.#rows) if (!ids.has(id)) this.#remove(id, row);
    for (const [index, info] of sandboxes.entries()) {
      const row = this.#rows.get(info.id);
      if (row) row.update(info);
      else this.#add(new SandboxRow(this.#client, info, this.#rowOptions(info.id)), info.id, index);
    }
    if (error) setText(byId("sandboxes-status"), `The list is not available: ${error.message || error.code}`);
    else if (!complete) setText(byId("sandboxes-status"), "Loading…");
    else setText(byId("sandboxes-status"), ids.size ? "" : "There are no sandboxes.");
  }

  #rowOptions(id: string) {
    return {
      href: sandboxLink(location.href, id),
      current: id === this.#current,
      mayAct: () => !this.#readOnly,
    };
  }

  #add(row: SandboxRow, id: string, index: number): void {
    this.#rows.set(id, row);
    this.#list.insertBefore(row.element, this.#list.children[index] ?? null);
  }

  #remove(id: string, row: SandboxRow): void {
    const hadFocus = row.element.contains(document.activeElement);
    row.dispose();
    this.#rows.delete(id);
    if (hadFocus) byId(this.#readOnly ? "sandboxes-close" : "sandboxes-new").focus();
  }
}
