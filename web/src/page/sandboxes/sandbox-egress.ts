// Shows the rules of a sandbox with a filtered network, along with a live list of refused requests. The module is
// loaded when the user opens the section.

import { type Disposable, DisposableList } from "../../base/disposables";
import { make, setText } from "../../base/dom";
import type { GatewayClient } from "../../client/client";
import { errorText } from "../../client/error-text";
import { MethodStream } from "../../client/streams";
import { follow } from "../../views/follow";
import type { EgressPolicy } from "../../wire/methods";
import { describeReason, describeRequest, Refusals } from "./refusals";

export class SandboxEgress implements Disposable {
  readonly element = make("div", "egress");
  readonly #rules = make("dl", "");
  readonly #status = make("p", "", "Loading…");
  readonly #list = make("ul", "");
  readonly #disposables = new DisposableList();
  readonly #refusals = new Refusals();
  #shown = "";

  constructor(client: GatewayClient, id: string) {
    this.#status.setAttribute("role", "status");
    this.#list.ariaLabel = `Refused requests of ${id}`;
    this.element.append(this.#rules, this.#status, this.#list);
    this.#disposables.add(
      follow({
        open: () => {
          this.#refusals.begin();
          return new MethodStream(client, "egress.watch", { id });
        },
        item: item => {
          if (item.event === "request") this.#refusals.add(item.value);
          else if (item.event === "lost") this.#refusals.lost += item.value.count;
          else if (item.event === "live") this.#refusals.live();
          this.#show();
        },
        failed: error => setText(this.#status, errorText(error)),
      }),
    );
  }

  set policy({ allow = [], deny = [], secrets = [] }: EgressPolicy) {
    const shown = JSON.stringify([allow, deny, secrets]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const lines: [string, readonly string[]][] = [
      ["Allowed", allow.length ? allow : ["nothing"]],
      ["Denied", deny],
      ["Secrets", secrets],
    ];
    const parts = lines
      .filter(([, values]) => values.length)
      .flatMap(([name, values]) => [make("dt", "", name), make("dd", "", values.join(", "))]);
    this.#rules.replaceChildren(...parts);
  }

  dispose(): void {
    this.#disposables.dispose();
    this.element.remove();
  }

  #show(): void {
    const { list, lost } = this.#refusals;
    const missing = lost ? ` ${lost} more are in the audit log.` : "";
    setText(this.#status, list.length ? `Refused last:${missing}` : "Nothing was refused.");
    this.#list.replaceChildren(
      ...list.map(request => {
        const time = make("time", "", new Date(request.time * 1000).toLocaleTimeString());
        return make(
          "li",
          "",
          time,
          make("code", "", describeRequest(request)),
          make("span", "", describeReason(request)),
        );
      }),
    );
  }
}
