// A sandbox in the list: a link that opens it, its state, and its actions.

import { iconButton, make, setText } from "../../base/dom";
import { randomId } from "../../base/random-id";
import type { GatewayClient } from "../../client/client";
import { errorText } from "../../client/error-text";
import { sandboxHandle } from "../../client/sandbox";
import { HawseError } from "../../wire/errors";
import type { SandboxInfo } from "../../wire/methods";
import { NOT_CONNECTED } from "../status";
import { SandboxNetwork } from "./sandbox-network";
import { actionsFor, describeSandbox, describeState, type SandboxAction } from "./sandbox-table";
import { SandboxUsage } from "./sandbox-usage";

const ICONS: Record<SandboxAction, string> = {
  start: "M5 3v10l8-5Z",
  resume: "M4 3v10M7 3v10l7-5Z",
  stop: "M4 4h8v8H4Z",
  delete: "M3 4h10M6 4V2.5h4V4M4.5 4l.6 9.500h5.800l.6-9.500",
};
const WORDS: Record<SandboxAction, string> = {
  start: "Start",
  resume: "Resume",
  stop: "Stop",
  delete: "Delete",
};

export interface RowOptions {
  href: string;
  /** Whether this is the sandbox that the page is showing. */
  current: boolean;
  mayAct: () => boolean;
}

export class SandboxRow {
  readonly element = make("li", "sandbox");
  readonly #client: GatewayClient;
  readonly #options: RowOptions;
  readonly #id: string;
  readonly #link: HTMLAnchorElement;
  readonly #dot = make("i", "dot");
  readonly #state = make("span", "state");
  readonly #facts = make("small", "facts");
  readonly #reason = make("small", "reason");
  readonly #labels = make("span", "labels");
  readonly #usage: SandboxUsage;
  readonly #network: SandboxNetwork;
  readonly #actions = make("span", "actions");
  readonly #problem = make("p", "problem");
  /** The actions whose buttons are shown; undefined while the row is asking for confirmation. */
  #shown: string | undefined = "";
  /**
   * The actions still waiting for their results. A sandbox's new state can arrive before the result, and the user can
   * then request the next action.
   */
  readonly #busy = new Set<SandboxAction>();
  #info: SandboxInfo;

  constructor(client: GatewayClient, info: SandboxInfo, options: RowOptions) {
    this.#client = client;
    this.#options = options;
    this.#id = info.id;
    this.#info = info;
    const name = make("strong", "", info.id);
    if (options.current) name.append(" ", make("em", "", "this page"));
    this.#link = make("a", "open", name, make("small", "line", this.#dot, this.#state, this.#facts));
    this.#usage = new SandboxUsage(sandboxHandle(client, info.id));
    this.#network = new SandboxNetwork(client, info.id);
    this.#link.append(this.#reason, this.#labels);
    this.#link.href = options.href;
    if (options.current) this.#link.setAttribute("aria-current", "page");
    this.#dot.setAttribute("aria-hidden", "true");
    this.#problem.setAttribute("role", "alert");
    this.element.append(this.#link, this.#actions, this.#usage.element, this.#network.element, this.#problem);
    this.update(info);
  }

  update(info: SandboxInfo): void {
    this.#info = info;
    this.element.dataset.state = info.state;
    setText(this.#state, describeState(info));
    setText(this.#facts, describeSandbox(info).join(" · "));
    setText(this.#reason, info.reason ?? "");
    this.#usage.running = info.state === "running";
    this.#network.update(info, this.#options.mayAct());
    const labels = Object.entries(info.labels ?? {}).map(([name, value]) =>
      make("b", "", value ? `${name}=${value}` : name),
    );
    this.#labels.replaceChildren(...labels);
    this.#showActions();
  }

  /** Ends the measurements. */
  dispose(): void {
    this.#usage.dispose();
    this.#network.dispose();
    this.element.remove();
  }

  /** Replaces the buttons only if the possible actions have changed, so that a button keeps the focus. */
  #showActions(): void {
    const actions = this.#options.mayAct() ? actionsFor(this.#info) : [];
    const key = actions.join();
    if (this.#shown === undefined || this.#shown === key) return;
    const hadFocus = this.#actions.contains(document.activeElement);
    this.#shown = key;
    this.#actions.replaceChildren(...actions.map(action => this.#button(action)));
    if (hadFocus) (this.#actions.querySelector("button") ?? this.#link).focus();
  }

  #button(action: SandboxAction): HTMLButtonElement {
    const button = iconButton(`${WORDS[action]} ${this.#id}`, ICONS[action]);
    button.dataset.action = action;
    button.addEventListener("click", () => {
      if (action === "delete") this.#ask();
      else if (action === "stop") void this.#askToStop();
      else void this.#act(action);
    });
    return button;
  }

  /** Returns a sentence about the sandbox's viewers and running programs; empty if there are none. */
  async #use(): Promise<string> {
    if (this.#info.state !== "running" || this.#client.state.phase !== "live") return "";
    const { describeUse, useOf } = await import("./sandbox-use");
    return await useOf(sandboxHandle(this.#client, this.#id), this.#options.current ? 1 : 0).then(
      describeUse,
      () => "It may be in use.",
    );
  }

  /** Asks for confirmation before stopping a sandbox that has viewers or running programs. */
  async #askToStop(): Promise<void> {
    const [loss, { ask }] = await Promise.all([this.#use(), import("../../frame/question")]);
    const text = `${loss} Its files are kept, but its programs end.`;
    const question = { title: `Stop ${this.#id}?`, text, no: "Keep", yes: "Stop it", danger: true };
    if (!loss || (await ask(question)).yes) await this.#act("stop");
  }

  /** Asks for confirmation before deleting the sandbox. The button for keeping it has the focus. */
  #ask(): void {
    this.#shown = undefined;
    const keep = make("button", "plain", "Keep");
    const remove = make("button", "danger", `Delete ${this.#id}`);
    const loss = "Its files and everything that runs in it will be lost.";
    const question = make("span", "question", loss);
    // With this role, screen readers also announce the note about the sandbox's use that is added below.
    question.setAttribute("role", "status");
    void this.#use().then(use => use && setText(question, `${use} ${loss}`));
    question.id = `delete-${this.#id}`;
    remove.setAttribute("aria-describedby", question.id);
    keep.setAttribute("aria-describedby", question.id);
    keep.type = "button";
    remove.type = "button";
    const close = () => {
      this.element.classList.remove("asking");
      this.#shown = "";
      this.#showActions();
    };
    keep.addEventListener("click", () => {
      close();
      this.#actions.querySelector<HTMLElement>("[data-action=delete]")?.focus();
    });
    remove.addEventListener("click", () => {
      close();
      void this.#act("delete");
    });
    this.element.classList.add("asking");
    this.#actions.replaceChildren(question, keep, remove);
    keep.focus();
  }

  async #act(action: SandboxAction): Promise<void> {
    if (this.#busy.has(action)) return;
    setText(this.#problem, "");
    if (this.#client.state.phase !== "live") {
      setText(this.#problem, NOT_CONNECTED);
      return;
    }
    this.#busy.add(action);
    this.element.setAttribute("aria-busy", "true");
    try {
      await this.#client.call(`sandbox.${action}`, { id: this.#id }, { key: randomId() });
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      setText(this.#problem, errorText(problem));
    } finally {
      this.#busy.delete(action);
      if (!this.#busy.size) this.element.removeAttribute("aria-busy");
    }
  }
}
