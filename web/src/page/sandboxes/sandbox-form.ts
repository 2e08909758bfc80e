// The form for creating a sandbox.

import { h, render } from "preact";
import { type Disposable, DisposableList } from "../../base/disposables";
import { byId, make, setText, within } from "../../base/dom";
import { randomId } from "../../base/random-id";
import type { GatewayClient } from "../../client/client";
import { errorText } from "../../client/error-text";
import { HawseError } from "../../wire/errors";
import type { SandboxCreate, SandboxInfo, TemplateInfo } from "../../wire/methods";
import { NOT_CONNECTED } from "../status";
import { SandboxFields } from "./sandbox-fields";
import { parsePairs } from "./sandbox-table";

/** Returns the page's form with its fields. */
function filledForm(): HTMLFormElement {
  const form = byId<HTMLFormElement>("sandbox-form");
  render(h(SandboxFields, {}), form);
  return form;
}

type Network = "host" | "none" | "private";

export class SandboxForm implements Disposable {
  readonly #client: GatewayClient;
  readonly #created: (sandbox: SandboxInfo) => void;
  readonly #disposables = new DisposableList();
  readonly #form = filledForm();
  readonly #toggle = byId<HTMLButtonElement>("sandboxes-new");
  readonly #submit = byId<HTMLButtonElement>("sandbox-create");
  readonly #templates = byId<HTMLSelectElement>("sandbox-template");
  readonly #image = byId<HTMLInputElement>("sandbox-image");
  readonly #images = byId("sandbox-images");

  /** `created` is called with each new running sandbox. */
  constructor(client: GatewayClient, created: (sandbox: SandboxInfo) => void) {
    this.#client = client;
    this.#created = created;
    this.#disposables.listen(this.#toggle, "click", () => this.setOpen(this.#form.hidden === true));
    const cancel = () => {
      this.setOpen(false);
      this.#toggle.focus();
    };
    this.#disposables.listen(byId("sandbox-cancel"), "click", cancel);
    this.#disposables.listen<KeyboardEvent>(this.#form, "keydown", event => {
      if (event.key !== "Escape") return;
      event.preventDefault(); // so that Escape doesn't close the dialog as well
      cancel();
    });
    this.#disposables.listen(this.#form, "submit", event => {
      event.preventDefault();
      if (!this.#submit.disabled) void this.#create();
    });
  }

  setOpen(open: boolean): void {
    this.#form.hidden = !open;
    this.#toggle.setAttribute("aria-expanded", String(open));
    this.#showProblem("");
    if (!open) return;
    this.#form.reset();
    byId("sandbox-id").focus();
    void this.#loadTemplates();
    void this.#loadImages();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Offers the gateway's templates. If there are none, the field is hidden. */
  async #loadTemplates(): Promise<void> {
    let found: TemplateInfo[] = [];
    try {
      found = (await this.#client.call("template.list", {})).templates;
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem; // the form also works without templates
    }
    const chosen = this.#templates.value;
    const options = found.map(({ name, description }) => {
      const option = make("option", "", description ? `${name}: ${description}` : name);
      option.value = name;
      return option;
    });
    const none = make("option", "", "None");
    none.value = "";
    this.#templates.replaceChildren(none, ...options);
    this.#templates.value = found.some(({ name }) => name === chosen) ? chosen : "";
    for (const element of [this.#templates, within(this.#form, "label[for=sandbox-template]")])
      element.hidden = found.length === 0;
  }

  /** Offers the available images. If the provider has none, the field is hidden. */
  async #loadImages(): Promise<void> {
    let names: string[] | undefined;
    try {
      names = (await this.#client.call("image.list", {})).images.flatMap(image => image.names ?? []);
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
    }
    const options = (names ?? []).map(name => {
      const option = make("option", "");
      option.value = name;
      return option;
    });
    this.#images.replaceChildren(...options);
    for (const element of [this.#image, within(this.#form, "label[for=sandbox-image]")])
      element.hidden = names === undefined;
  }

  async #create(): Promise<void> {
    let params: SandboxCreate;
    try {
      params = this.#params();
    } catch (problem) {
      this.#showProblem((problem as Error).message);
      return;
    }
    if (this.#client.state.phase !== "live") {
      this.#showProblem(NOT_CONNECTED);
      return;
    }
    this.#showProblem("");
    this.#setBusy(true);
    try {
      this.#created(await this.#client.call("sandbox.create", params, { key: randomId() }));
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      this.#showProblem(errorText(problem));
    } finally {
      this.#setBusy(false);
    }
  }

  #params(): SandboxCreate {
    const data = new FormData(this.#form);
    const text = (name: string) => String(data.get(name) ?? "");
    return {
      id: text("id").trim() || null,
      template: text("template") || null,
      image: text("image").trim() || null,
      network: (text("network") || null) as Network | null,
      env: parsePairs(text("env")),
      labels: parsePairs(text("labels")),
    };
  }

  #setBusy(busy: boolean): void {
    this.#submit.disabled = busy;
    setText(this.#submit, busy ? "Creating…" : "Create and open");
  }

  #showProblem(text: string): void {
    setText(byId("sandbox-problem"), text);
  }
}
