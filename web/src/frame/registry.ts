// The kinds of panes and the views of the rail that this page has.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { PaneKind, RailView } from "./pane";

/** An entry of the palette from a module that is loaded after the first prompt, so it is not an action of the page. */
export interface ViewCommand {
  /** Unique name. */
  readonly id: string;
  /** Imperative, as a menu item. */
  readonly label: string;
  readonly icon: RailView["icon"];
  run(): void;
}

export class Registry {
  readonly #kinds = new Map<string, PaneKind>();
  readonly #views = signal<readonly RailView[]>([]);
  readonly #more: () => Promise<void>;
  #loading: Promise<void> | undefined;

  /** Entries of the palette. */
  readonly commands: ViewCommand[] = [];

  /** `more`: registers all that is not needed at once. */
  constructor(more: () => Promise<void> = async () => {}) {
    this.#more = more;
  }

  /** Registers everything. Rejects if it cannot be loaded; a later call tries it again. */
  load(): Promise<void> {
    this.#loading ??= this.#more().catch(error => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /** Throws Error if the kind is registered already. */
  addPane(kind: PaneKind): void {
    if (this.#kinds.has(kind.kind)) throw new Error(`the pane kind ${kind.kind} is registered twice`);
    this.#kinds.set(kind.kind, kind);
  }

  /** Adds an entry at the end of the rail. */
  addRail(view: RailView): void {
    if (this.#views.value.some(({ id }) => id === view.id))
      throw new Error(`the rail view ${view.id} is registered twice`);
    this.#views.value = [...this.#views.value, view];
  }

  /** Returns the kind of panes with this name. Rejects if it cannot be loaded. */
  async pane(kind: string): Promise<PaneKind | undefined> {
    if (!this.#kinds.has(kind)) await this.load();
    return this.#kinds.get(kind);
  }

  /** The views in the order of their entries. */
  get rail(): ReadonlySignal<readonly RailView[]> {
    return this.#views;
  }
}
