// The kinds of panes and the views of the rail that this page has.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { PaneKind, RailView } from "./pane";

export class Registry {
  readonly #kinds = new Map<string, PaneKind>();
  readonly #views = signal<readonly RailView[]>([]);

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

  pane(kind: string): PaneKind | undefined {
    return this.#kinds.get(kind);
  }

  /** The views in the order of their entries. */
  get rail(): ReadonlySignal<readonly RailView[]> {
    return this.#views;
  }
}
