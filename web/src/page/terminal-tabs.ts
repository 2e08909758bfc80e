// The tabs of the sandbox's terminals. Each is a link: the address names the terminal, so that a reload, the browser's
// history and a copied address lead to it.

import "./style/tabs.css";
import { type Disposable, DisposableList } from "../base/disposables";
import { randomId } from "../base/random-id";
import type { HawseClient } from "../client/client";
import { HawseError } from "../wire/errors";
import type { TerminalCreate, TerminalInfo } from "../wire/methods";
import { terminalLink } from "./address";
import { byId, iconButton, make, setText } from "./dom";
import { NOT_CONNECTED } from "./status";
import { freeId, lossOf, neighbour, type Tab, tabsOf } from "./terminal-list";

/** Milliseconds between two looks at the list while the page is visible: no event reports terminals of others. */
const REFRESH_INTERVAL = 5_000;
/** Milliseconds to wait before a look: programs may change their title often. */
const REFRESH_DELAY = 200;

export interface TabsOptions {
  sandbox: string;
  terminal: string;
  toast: (text: string) => void;
  /** Gives the focus back to the terminal. */
  focus: () => void;
}

export class TerminalTabs implements Disposable {
  readonly #client: HawseClient;
  readonly #options: TabsOptions;
  readonly #disposables = new DisposableList();
  readonly #strip = byId("tabs");
  readonly #list = byId("tab-list");
  readonly #dialog = byId<HTMLDialogElement>("close-dialog");
  #terminals: TerminalInfo[] = [];
  /** What the strip shows, to replace it only after a change. */
  #shown = "";
  /** Id of the terminal that the dialog is about. */
  #closing = "";
  #refreshTimer: ReturnType<typeof setTimeout> | undefined;
  #busy = false;

  constructor(client: HawseClient, options: TabsOptions) {
    this.#client = client;
    this.#options = options;
    this.#disposables.add(client.onUp(() => this.refresh()));
    for (const button of ["tab-new", "terminal-new"])
      this.#disposables.listen(byId(button), "click", () => void this.#try(() => this.#open()));
    this.#disposables.listen(byId("close-keep"), "click", () => this.#dialog.close());
    this.#disposables.listen(byId("close-end"), "click", () => {
      this.#dialog.close();
      void this.#try(() => this.#end(this.#closing));
    });
    const timer = setInterval(() => document.hidden || this.refresh(), REFRESH_INTERVAL);
    this.#disposables.defer(() => clearInterval(timer));
    this.#disposables.defer(() => clearTimeout(this.#refreshTimer));
    this.#disposables.listen(window, "focus", () => this.refresh());
    this.refresh();
  }

  /** Gets the list of terminals again soon, if there is a connection then. */
  refresh(): void {
    this.#refreshTimer ??= setTimeout(() => {
      this.#refreshTimer = undefined;
      if (this.#client.state.phase === "live") void this.#fetch().catch(ignoreHawseError);
    }, REFRESH_DELAY);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #fetch(): Promise<void> {
    const { sandbox } = this.#options;
    this.#terminals = (await this.#client.call("terminal.list", {}, { sandbox })).terminals;
    this.#show();
  }

  #show(): void {
    const readOnly = this.#client.welcome?.role === "viewer";
    byId("terminal-new").hidden = readOnly;
    byId("tab-new").hidden = readOnly;
    const tabs = this.#tabs;
    this.#strip.hidden = tabs.length < 2;
    const key = JSON.stringify([readOnly, tabs]);
    if (key === this.#shown) return;
    const focused = this.#list.contains(document.activeElement) ? document.activeElement?.id : undefined;
    const first = !this.#shown;
    this.#shown = key;
    this.#list.replaceChildren(...tabs.map(tab => this.#item(tab, readOnly)));
    if (focused) document.getElementById(focused)?.focus();
    if (first) this.#list.querySelector(".current")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  get #tabs(): Tab[] {
    return tabsOf(this.#terminals, this.#options.terminal);
  }

  #item(tab: Tab, readOnly: boolean): HTMLElement {
    const dot = make("i", tab.running ? "running" : "exited");
    dot.setAttribute("aria-hidden", "true");
    const link = make("a", "", dot, make("span", "", tab.label));
    link.id = `tab-of-${tab.id}`;
    link.href = terminalLink(location.href, tab.id);
    link.title = tab.running ? tab.details : `${tab.details}, exited`;
    const item = make("li", tab.current ? "current" : "", link);
    if (tab.current) link.setAttribute("aria-current", "page");
    if (readOnly) return item;
    const close = iconButton(`Close ${tab.label}`, "M4.500 4.500l7 7M11.500 4.500l-7 7");
    close.id = `close-of-${tab.id}`;
    close.addEventListener("click", () => void this.#try(() => this.#close(tab)));
    item.append(close);
    return item;
  }

  /** Creates a terminal in the directory of this one, and shows it. */
  async #open(): Promise<void> {
    await this.#fetch();
    const taken = new Set(this.#terminals.map(({ id }) => id));
    let id = freeId(taken);
    while (!(await this.#create(id))) {
      taken.add(id);
      id = freeId(taken);
    }
    this.#goTo(id);
  }

  /** Returns false if another client has just created a terminal with this id. */
  async #create(id: string): Promise<boolean> {
    const { sandbox, terminal } = this.#options;
    const here = this.#terminals.find(shown => shown.id === terminal);
    const create = async (params: TerminalCreate) =>
      (await this.#client.call("terminal.create", params, { sandbox, key: randomId() })).created;
    if (!here) return await create({ id });
    const size = { cols: here.cols, rows: here.rows };
    try {
      return await create({ id, ...size, cwd: here.cwd });
    } catch (problem) {
      // The directory of this terminal may have been removed.
      if (!(problem instanceof HawseError) || problem.code !== "spawn_failed") throw problem;
      return await create({ id, ...size });
    }
  }

  async #close({ id, label, running }: Tab): Promise<void> {
    const { sandbox } = this.#options;
    const loss = running
      ? lossOf(await this.#client.call("terminal.history", { id, limit: 1 }, { sandbox }))
      : "";
    if (!loss) {
      await this.#end(id);
      return;
    }
    this.#closing = id;
    setText(byId("close-title"), `Close ${label}?`);
    setText(byId("close-text"), loss);
    this.#dialog.showModal();
    byId("close-keep").focus();
  }

  async #end(id: string): Promise<void> {
    const { sandbox, terminal, focus } = this.#options;
    await this.#client.call("terminal.kill", { id }, { sandbox, key: randomId() });
    const next = id === terminal ? neighbour(this.#tabs, id) : undefined;
    if (next) this.#goTo(next);
    else {
      await this.#fetch();
      focus();
    }
  }

  #goTo(id: string): void {
    location.assign(terminalLink(location.href, id));
  }

  /** Runs `action` and shows its error; does nothing while another one runs. */
  async #try(action: () => Promise<void>): Promise<void> {
    if (this.#busy) return;
    if (this.#client.state.phase !== "live") {
      this.#options.toast(NOT_CONNECTED);
      return;
    }
    this.#busy = true;
    try {
      await action();
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      this.#options.toast(problem.message || problem.code);
    } finally {
      this.#busy = false;
    }
  }
}

/** For a refresh in the background: the next one shows the list. */
function ignoreHawseError(problem: unknown): void {
  if (!(problem instanceof HawseError)) throw problem;
}
