// The kinds of panes and the rail views on this page.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { PaneKind, RailView } from "./pane";

/** A palette entry from a module that is loaded after the first prompt, so it isn't one of the page's actions. */
export interface ViewCommand {
  /** Unique name. */
  readonly id: string;
  /** Title in the imperative, as in a menu. */
  readonly label: string;
  readonly icon: RailView["icon"];
  run(): void;
}

export class Registry {
  readonly #kinds = new Map<string, PaneKind>();
  readonly #views = signal<readonly RailView[]>([]);
  readonly #more: () => Promise<void>;
  #loading: Promise<void> | undefined;

  /** The palette entries. */
  readonly commands: ViewCommand[] = [];

  /** `more` registers everything that is not needed immediately. */
  constructor(more: () => Promise<void> = async () => {}) {
    this.#more = more;
  }

  /** Registers everything. Rejects if a module can't be loaded; a later call retries. */
  load(): Promise<void> {
    this.#loading ??= this.#more().catch(error => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /** Registers a kind of pane. Throws Error if the kind is already registered. */
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

  /** Returns the kind of pane with this name. Rejects if its module can't be loaded. */
  async pane(kind: string): Promise<PaneKind | undefined> {
    if (!this.#kinds.has(kind)) await this.load();
    return this.#kinds.get(kind);
  }

  /** The views, in the order of their entries. */
  get rail(): ReadonlySignal<readonly RailView[]> {
    return this.#views;
  }
}
