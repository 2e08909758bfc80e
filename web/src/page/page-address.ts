// Keeps the address, the browser history and the workspace in sync. The address describes the current tab, and the
// session storage describes all tabs in their order.

import { batch, effect } from "@preact/signals";
import { type Disposable, DisposableList } from "../base/disposables";
import { treeToText } from "../frame/tree-text";
import { type Tab, TERMINAL, terminalOf, type Workspace } from "../frame/workspace";
import { layoutLink, readAddress, terminalLink, withSession } from "./address";

const KEY = "hawse.tabs.";

/** Returns a tab's address. */
export function tabLink(href: string, { tree }: Pick<Tab, "tree">): string {
  const terminal = terminalOf(tree);
  return terminal === undefined ? layoutLink(href, treeToText(tree)) : terminalLink(href, terminal);
}

export class PageAddress implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #workspace: Workspace;
  readonly #storage: () => Storage;
  #shown: number | undefined;

  constructor(workspace: Workspace, storage: () => Storage) {
    this.#workspace = workspace;
    this.#storage = storage;
    // One batch, so that no pane is loaded for a tab that isn't shown.
    batch(() => {
      this.#restore();
      this.#read();
    });
    this.#shown = workspace.current.value?.key;
    this.#disposables.defer(effect(() => this.#write()));
    this.#disposables.listen(window, "popstate", () => this.#read());
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Shows the tab that the address describes. */
  #read(): void {
    const { layout, terminal } = readAddress(location.href);
    const found = layout !== undefined && this.#workspace.restore(layout);
    if (!found) this.#workspace.open(TERMINAL, { id: terminal });
    this.#shown = this.#workspace.current.value?.key;
  }

  /** Switching tabs adds an entry to the history; a change within a tab doesn't. */
  #write(): void {
    const current = this.#workspace.current.value;
    const tabs = JSON.stringify(this.#workspace.texts());
    attempt(() => this.#storage().setItem(KEY + readAddress(location.href).sandbox, tabs));
    if (!current) return;
    const link = withSession(tabLink(location.href, current), location.href);
    const switched = current.key !== this.#shown;
    this.#shown = current.key;
    if (sameView(link, location.href)) return;
    if (switched) history.pushState(null, "", link);
    else history.replaceState(history.state, "", link);
  }

  #restore(): void {
    const { sandbox } = readAddress(location.href);
    const stored: unknown = attempt(() => JSON.parse(this.#storage().getItem(KEY + sandbox) ?? "[]"));
    if (Array.isArray(stored)) this.#workspace.addAll(stored.filter(text => typeof text === "string"));
  }
}

function sameView(one: string, other: string): boolean {
  const [a, b] = [readAddress(one), readAddress(other)];
  return a.sandbox === b.sandbox && a.terminal === b.terminal && a.layout === b.layout;
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined; // the storage is full or disabled
  }
}
