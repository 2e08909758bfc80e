// The dialog listing the gateway's sandboxes, where users open, create, start, stop and delete them.

import "../style/sheet.css";
import "../style/sandboxes.css";
import { type Disposable, DisposableList } from "../../base/disposables";
import { byId, setText } from "../../base/dom";
import type { GatewayClient } from "../../client/client";
import { sandboxLink } from "../address";
import { SandboxForm } from "./sandbox-form";
import { SandboxList } from "./sandbox-list";

export class SandboxesDialog implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #dialog = byId<HTMLDialogElement>("sandboxes-dialog");
  readonly #form: SandboxForm;
  /** The list is kept up to date while the dialog is open. */
  readonly #list: SandboxList;

  constructor(client: GatewayClient, current: string) {
    this.#list = new SandboxList(client, {
      element: byId("sandboxes-list"),
      href: id => sandboxLink(location.href, id),
      current,
      changed: () => setText(byId("sandboxes-status"), this.#list.status),
      keepFocus: () => byId(this.#list.readOnly ? "sandboxes-close" : "sandboxes-new").focus(),
    });
    this.#form = new SandboxForm(client, ({ id }) => location.assign(sandboxLink(location.href, id)));
    this.#disposables.add(this.#form);
    this.#disposables.listen(byId("sandboxes-close"), "click", () => this.#dialog.close());
    this.#disposables.listen(this.#dialog, "click", event => {
      if (event.target === this.#dialog) this.#dialog.close(); // the click was on the backdrop
    });
    this.#disposables.listen(this.#dialog, "close", () => this.#list.dispose());
  }

  show(): void {
    if (this.#dialog.open) return;
    this.#form.setOpen(false);
    byId("sandboxes-new").hidden = this.#list.readOnly;
    this.#list.start();
    this.#dialog.showModal();
  }

  dispose(): void {
    this.#dialog.close();
    this.#list.dispose();
    this.#disposables.dispose();
  }
}
