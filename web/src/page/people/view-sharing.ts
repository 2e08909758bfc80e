// Sends this user's view to each terminal that has other viewers, so that they can follow.

import { effect, type ReadonlySignal } from "@preact/signals";
import { type Disposable, DisposableList } from "../../base/disposables";
import type { PageCore } from "../page-core";
import { TerminalPane } from "../terminal/terminal-pane";
import { scrolledBack, viewToText } from "./view-text";

/**
 * Minimum time between messages in milliseconds, because the view changes often while the scrollbar is dragged, or when
 * output arrives while scrolled back.
 */
const SEND_INTERVAL = 120;

export class ViewSharing implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #page: PageCore;
  /**
   * Sends nothing while the user is following another viewer: two viewers following each other would never stop moving.
   */
  readonly #paused: ReadonlySignal<boolean>;
  readonly #scrolls = new Map<TerminalPane, Disposable>();
  /** The last view sent during each attachment to a terminal, keyed by the record returned by the attachment. */
  readonly #sent = new WeakMap<object, string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(page: PageCore, paused: ReadonlySignal<boolean>) {
    this.#page = page;
    this.#paused = paused;
    this.#disposables.defer(
      effect(() => {
        page.workspace.current.value;
        const panes = this.#panes(page.workspace.panes.value.values());
        // These reads make the effect run again when a viewer joins or a terminal is reattached.
        for (const pane of panes) pane.people.value;
        this.#watch(panes);
        if (!paused.value) this.#schedule();
      }),
    );
    this.#disposables.defer(() => clearTimeout(this.#timer));
    this.#disposables.defer(() => this.#watch([]));
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #panes(all: Iterable<unknown>): TerminalPane[] {
    return [...all].filter((pane): pane is TerminalPane => pane instanceof TerminalPane);
  }

  /** Observes how far back the terminals are scrolled. */
  #watch(panes: readonly TerminalPane[]): void {
    for (const [pane, watch] of this.#scrolls)
      if (!panes.includes(pane)) {
        watch.dispose();
        this.#scrolls.delete(pane);
      }
    for (const pane of panes) {
      const terminal = pane.opened.value?.terminal;
      if (!terminal || this.#scrolls.has(pane)) continue;
      const watch = new DisposableList();
      watch.add(terminal.onRender(() => this.#schedule())); // not `onScroll`, which fires for every line
      this.#scrolls.set(pane, watch);
    }
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (!this.#paused.peek()) this.#send();
    }, SEND_INTERVAL);
  }

  #send(): void {
    const { workspace } = this.#page;
    const active = workspace.active.peek();
    const terminal = active instanceof TerminalPane ? active.opened.peek()?.terminal : undefined;
    const view = active
      ? viewToText({ kind: active.kind, state: active.state(), scroll: scrolledBack(terminal) })
      : "";
    for (const pane of this.#panes(workspace.panes.peek().values())) {
      const open = pane.opened.peek();
      const attached = open?.channel.info;
      if (!open || !attached || open.channel.state.phase !== "live") continue;
      if (!open.channel.people.others.length) continue;
      const scroll = scrolledBack(open.terminal);
      const state = `${scroll} ${view}`;
      if (this.#sent.get(attached) === state) continue;
      this.#sent.set(attached, state);
      open.shell.updatePresence({ scroll, view });
    }
  }
}
