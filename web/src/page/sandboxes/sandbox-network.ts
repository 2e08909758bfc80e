// The section for a filtered network in a sandbox's row. It shows the rules and refusals when open.

import type { Disposable } from "../../base/disposables";
import { make } from "../../base/dom";
import type { GatewayClient } from "../../client/client";
import type { SandboxInfo } from "../../wire/methods";
import type { SandboxEgress } from "./sandbox-egress";

export class SandboxNetwork implements Disposable {
  readonly element = make("details", "network", make("summary", "", "Network: rules and refusals"));
  readonly #client: GatewayClient;
  readonly #id: string;
  #info: SandboxInfo | undefined;
  #content: SandboxEgress | undefined;

  constructor(client: GatewayClient, id: string) {
    this.#client = client;
    this.#id = id;
    this.element.hidden = true;
    this.element.addEventListener("toggle", () => void this.#toggle());
  }

  /** `allowed` is true if the user may see the network. */
  update(info: SandboxInfo, allowed: boolean): void {
    this.#info = info;
    this.element.hidden = !allowed || info.network !== "filtered";
    if (this.element.hidden) this.element.open = false;
    if (this.#content) this.#content.policy = info.egress ?? {};
  }

  dispose(): void {
    this.#content?.dispose();
    this.#content = undefined;
  }

  async #toggle(): Promise<void> {
    if (!this.element.open) return this.dispose();
    const { SandboxEgress } = await import("./sandbox-egress");
    if (!this.element.open || !this.element.isConnected || this.#content) return;
    this.#content = new SandboxEgress(this.#client, this.#id);
    this.#content.policy = this.#info?.egress ?? {};
    this.element.append(this.#content.element);
  }
}
