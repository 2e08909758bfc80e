// The page's tabs and their panes: which panes are open, which one is active, and how they're represented in the
// address. This module doesn't use the DOM; `Stage` positions the panes.

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Pane, PaneState, Place } from "./pane";
import {
  type Direction,
  leavesOf,
  MAX_PANES,
  neighbourOf,
  removeLeaf,
  splitLeaf,
  type Tree,
  updateLeaf,
} from "./tree";
import { treeFromText, treeToText } from "./tree-text";

export interface Tab {
  /** Unique within the page. */
  readonly key: number;
  readonly tree: Tree;
  /** Id of the pane that has the focus, or had it last. */
  readonly active: number;
}

/** The kind for terminal panes, whose state contains the `id` of the terminal. */
export const TERMINAL = "terminal";

export class Workspace {
  readonly #tabs = signal<readonly Tab[]>([]);
  readonly #current = signal(0);
  /** The loaded panes, keyed by the ids of their leaves. */
  readonly panes: Signal<ReadonlyMap<number, Pane>> = signal(new Map());
  #lastId = 0;

  readonly tabs: ReadonlySignal<readonly Tab[]> = this.#tabs;
  readonly current: ReadonlySignal<Tab | undefined> = computed(
    () => this.#tabs.value.find(({ key }) => key === this.#current.value) ?? this.#tabs.value[0],
  );
  readonly active: ReadonlySignal<Pane | undefined> = computed(() =>
    this.panes.value.get(this.current.value?.active ?? 0),
  );

  readonly nextId = (): number => ++this.#lastId;

  /** Shows the pane with this state: one that is already open, or else a new one. Returns false if the tab is full. */
  open(kind: string, state: PaneState, place: Place = "tab"): boolean {
    const found = this.find(kind, state);
    if (found) {
      this.focus(found.key, found.id);
      return true;
    }
    const leaf = { type: "leaf", id: this.nextId(), kind, state } as const;
    const here = this.current.value;
    if (place === "tab" || !here) {
      batch(() => this.#select(this.#add(leaf)));
      return true;
    }
    if (leavesOf(here.tree).length >= MAX_PANES) return false;
    const direction: Direction = place === "right" ? "row" : "column";
    this.#replace({ ...here, tree: splitLeaf(here.tree, here.active, direction, leaf), active: leaf.id });
    return true;
  }

  find(kind: string, state: PaneState): { key: number; id: number } | undefined {
    for (const { key, tree } of this.#tabs.value)
      for (const leaf of leavesOf(tree))
        if (leaf.kind === kind && sameState(leaf.state, state)) return { key, id: leaf.id };
    return undefined;
  }

  /** Returns the trees of all tabs as text, in order. */
  texts(): string[] {
    return this.#tabs.value.map(({ tree }) => treeToText(tree));
  }

  /** Adds the tabs described by `texts` at the end without showing them, except malformed ones. */
  addAll(texts: readonly string[]): void {
    for (const text of texts) {
      const tree = treeFromText(text, this.nextId);
      if (tree) this.#add(tree);
    }
  }

  select(key: number): void {
    if (this.#tabs.value.some(tab => tab.key === key)) this.#select(key);
  }

  focus(key: number, id: number): void {
    const tab = this.#tabs.value.find(each => each.key === key);
    batch(() => {
      if (tab && tab.active !== id) this.#replace({ ...tab, active: id });
      this.select(key);
    });
  }

  /** Selects the next (1) or previous (-1) tab, wrapping around. */
  step(by: 1 | -1): void {
    const tabs = this.#tabs.value;
    const index = tabs.findIndex(({ key }) => key === this.current.value?.key);
    const next = tabs[(index + by + tabs.length) % tabs.length];
    if (next) this.#select(next.key);
  }

  /** Moves the focus to the pane on this side. */
  go(side: "left" | "right" | "up" | "down"): void {
    const here = this.current.value;
    const next = here && neighbourOf(here.tree, here.active, side);
    if (here && next) this.focus(here.key, next.id);
  }

  /** Removes a pane, along with its tab if it was the last pane there. */
  remove(id: number): void {
    const tab = this.#tabs.value.find(({ tree }) => leavesOf(tree).some(leaf => leaf.id === id));
    if (!tab) return;
    const tree = removeLeaf(tab.tree, id);
    if (tree) {
      const active = tab.active === id ? (leavesOf(tree)[0]?.id ?? 0) : tab.active;
      this.#replace({ ...tab, tree, active });
    } else this.#removeTab(tab.key);
  }

  reshape(key: number, change: (tree: Tree) => Tree): void {
    const tab = this.#tabs.value.find(each => each.key === key);
    if (tab) this.#replace({ ...tab, tree: change(tab.tree) });
  }

  setState(id: number, state: PaneState): void {
    const tab = this.#tabs.value.find(({ tree }) => leavesOf(tree).some(leaf => leaf.id === id));
    if (tab) this.#replace({ ...tab, tree: updateLeaf(tab.tree, id, { state }) });
  }

  /**
   * Adds a tab for each terminal in `running` that isn't shown in any pane. Removes tabs that contain nothing but a
   * terminal that is no longer running, except the current tab.
   */
  syncTerminals(running: readonly string[]): void {
    const alive = new Set(running);
    for (const tab of [...this.#tabs.value]) {
      const id = terminalOf(tab.tree);
      if (id !== undefined && !alive.has(id) && tab.key !== this.current.value?.key) this.#removeTab(tab.key);
    }
    for (const id of running)
      if (!this.find(TERMINAL, { id }))
        this.#add({ type: "leaf", id: this.nextId(), kind: TERMINAL, state: { id } });
  }

  /**
   * Shows the tab described by `text`: one that is already open, or else a new one. Returns false if `text` is
   * malformed.
   */
  restore(text: string): boolean {
    const found = this.#tabs.value.find(({ tree }) => treeToText(tree) === text);
    const tree = found ? undefined : treeFromText(text, this.nextId);
    if (!found && !tree) return false;
    batch(() => this.#select(found?.key ?? this.#add(tree as Tree)));
    return true;
  }

  #add(tree: Tree): number {
    const key = this.nextId();
    const active = leavesOf(tree)[0]?.id ?? 0;
    this.#tabs.value = [...this.#tabs.value, { key, tree, active }];
    return key;
  }

  #select(key: number): void {
    this.#current.value = key;
  }

  #replace(tab: Tab): void {
    this.#tabs.value = this.#tabs.value.map(each => (each.key === tab.key ? tab : each));
  }

  #removeTab(key: number): void {
    const tabs = this.#tabs.value;
    const index = tabs.findIndex(tab => tab.key === key);
    const next = tabs[index + 1] ?? tabs[index - 1];
    batch(() => {
      if (this.current.value?.key === key && next) this.#select(next.key);
      this.#tabs.value = tabs.filter(tab => tab.key !== key);
    });
  }
}

/** Returns the terminal's id if the tree contains nothing but this terminal; otherwise undefined. */
export function terminalOf(tree: Tree): string | undefined {
  return tree.type === "leaf" && tree.kind === TERMINAL ? tree.state.id : undefined;
}

function sameState(one: PaneState, other: PaneState): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every(name => one[name] === other[name]);
}
