// Actions on panes: opening and closing them, and taking or returning a terminal's keyboard.

import { batch } from "@preact/signals";
import { randomId } from "../../base/random-id";
import { errorText } from "../../client/error-text";
import type { AppContext } from "../../frame/pane";
import { leavesOf } from "../../frame/tree";
import { type Tab, TERMINAL } from "../../frame/workspace";
import { HawseError } from "../../wire/errors";
import type { PageCore } from "../page-core";
import type { LeaseAction } from "../shell/shell";
import { NOT_CONNECTED } from "../status";
import type { TerminalPane } from "../terminal/terminal-pane";

export class PaneActions {
  readonly #page: PageCore;
  readonly #app: () => AppContext;

  constructor(page: PageCore, app: () => AppContext) {
    this.#page = page;
    this.#app = app;
  }

  async newTerminal(place: "tab" | "right" | "below"): Promise<void> {
    const from = this.#page.activeTerminal.peek()?.id;
    await this.#page.terminals.create(from, id => this.#app().open(TERMINAL, { id }, place));
  }

  newNotebook(): void {
    this.#app().open("notebook", { id: `nb-${randomId().slice(0, 8)}` }, "tab");
  }

  /** Opens a preview beside the active pane, which keeps the focus. */
  readonly preview = (port: number, path?: string): void => {
    const { workspace, focus } = this.#page;
    const state = { port: String(port), ...(path && path !== "/" ? { path } : {}) };
    const here = workspace.find("preview", state) ? undefined : workspace.current.peek();
    batch(() => {
      this.#app().open("preview", state, "right");
      // On a narrow page, the preview is in a tab.
      if (here && workspace.current.peek()?.key === here.key) workspace.focus(here.key, here.active);
    });
    focus();
  };

  /**
   * Closes a pane. Closing a terminal pane ends the terminal; if a command is running in it, the user is asked first.
   */
  async close(id: number): Promise<void> {
    const { workspace, readOnly, terminals } = this.#page;
    const leaf = workspace.tabs
      .peek()
      .flatMap(({ tree }) => leavesOf(tree))
      .find(each => each.id === id);
    if (!leaf) return;
    const pane = workspace.panes.peek().get(id);
    const terminal = leaf.kind === TERMINAL ? leaf.state.id : undefined;
    if (terminal === undefined) {
      if ((await pane?.mayClose?.()) !== false) workspace.remove(id);
      return;
    }
    if (readOnly.peek()) return workspace.remove(id);
    const loss = await terminals.lossOf(terminal);
    if (loss === undefined) return;
    if (loss && !(await mayEnd(pane?.title.peek() ?? terminal, loss))) return;
    if (!(await terminals.end(terminal))) return;
    const [first, ...others] = workspace.tabs.peek();
    // The last pane stays open and shows that its shell has ended.
    if (others.length || first?.tree.type === "split") workspace.remove(id);
    this.#page.focus();
  }

  async closeTab({ tree }: Tab): Promise<void> {
    for (const { id } of leavesOf(tree)) await this.close(id);
  }

  /**
   * Starts the stopped sandbox and reloads the page, because the new runtime has different terminals, ports and
   * recordings.
   */
  async startSandbox(): Promise<void> {
    const { client, sandbox, toast } = this.#page;
    try {
      await client.call("sandbox.start", { id: sandbox }, { key: randomId() });
      location.reload();
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      toast(errorText(problem));
    }
  }

  /** Changes who can type into a terminal (default: the active terminal). `to` is the public id of another viewer. */
  async lease(action: LeaseAction, other?: { pane: TerminalPane | undefined; to: string }): Promise<void> {
    const { client, focus, toast } = this.#page;
    focus(); // the user probably wants to type in the terminal next
    if (client.state.phase !== "live") return toast(NOT_CONNECTED);
    const open = other ? other.pane?.opened.peek() : this.#page.opened;
    const refused = await open?.shell.lease(action, other?.to);
    if (refused) toast(refused.message);
  }

  /** Whether only this viewer can type into the active terminal. */
  get holding(): boolean {
    const { me, lease } = this.#page.people.value?.people ?? {};
    return me !== undefined && lease?.holder === me.id;
  }
}

async function mayEnd(name: string, loss: string): Promise<boolean> {
  const { ask } = await import("../../frame/question");
  const question = { title: `Close ${name}?`, text: loss, no: "Keep", yes: "End it and close", danger: true };
  return (await ask(question)).yes;
}
