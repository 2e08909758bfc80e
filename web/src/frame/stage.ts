// Positions the workspace's panes: loads the current tab's panes and gives each one its rectangle. The elements of all
// panes are siblings, so changing the tree never moves an element to another parent.

import { effect, untracked } from "@preact/signals";
import { type Disposable, DisposableList } from "../base/disposables";
import { visible } from "../base/visible";
import type { DividerBar } from "./divider-bar";
import type { AppContext, Pane, PaneKind } from "./pane";
import type { Registry } from "./registry";
import {
  arrange,
  type Box,
  cssLength,
  type Divider,
  FOLDED,
  FOLDED_LARGE,
  type Leaf,
  leavesOf,
} from "./tree";
import type { Workspace } from "./workspace";

/** Matches devices with larger touch targets, as in shell-fold.css. */
const LARGE = matchMedia("(pointer: coarse), (max-width: 700px)");

/** Maximum number of panes kept loaded in hidden tabs. Each costs about as much as a terminal's channel. */
const MAX_HIDDEN = 8;

interface Hosted extends Disposable {
  readonly element: HTMLElement;
  readonly title: HTMLElement;
  pane?: Pane;
}

export class Stage implements Disposable {
  readonly #element: HTMLElement;
  readonly #workspace: Workspace;
  readonly #registry: Registry;
  readonly #app: AppContext;
  readonly #close: (id: number) => void;
  readonly #disposables = new DisposableList();
  readonly #hosts = new Map<number, Hosted>();
  #dividers: DividerBar[] = [];
  /** The divider module, which is loaded with the first split. */
  #bars: typeof import("./divider-bar") | undefined;

  /** `close` is called when the user has clicked the pane's close button. */
  constructor(
    element: HTMLElement,
    workspace: Workspace,
    registry: Registry,
    app: AppContext,
    close: (id: number) => void,
  ) {
    this.#element = element;
    this.#workspace = workspace;
    this.#registry = registry;
    this.#app = app;
    this.#close = close;
    this.#disposables.defer(effect(() => this.#show()));
    this.#disposables.listen<FocusEvent>(element, "focusin", event => this.#focused(event));
  }

  dispose(): void {
    this.#disposables.dispose();
    for (const id of [...this.#hosts.keys()]) this.#drop(id);
  }

  #show(): void {
    const current = this.#workspace.current.value;
    const all = new Set(this.#workspace.tabs.value.flatMap(({ tree }) => leavesOf(tree).map(({ id }) => id)));
    for (const id of [...this.#hosts.keys()]) if (!all.has(id)) this.#drop(id);
    for (const bar of this.#dividers.splice(0)) bar.dispose();
    if (!current) return;
    const { leaves, dividers } = arrange(current.tree, this.#folded(), LARGE.matches ? FOLDED_LARGE : FOLDED);
    const shown = new Set(leaves.map(({ leaf }) => leaf.id));
    for (const [id, host] of this.#hosts) if (!shown.has(id)) untracked(() => setHidden(host, true));
    for (const { leaf, box } of leaves) {
      const host = this.#hosts.get(leaf.id) ?? this.#create(leaf);
      // The entry is deleted and added again, so that the map stays ordered by last use.
      this.#hosts.delete(leaf.id);
      this.#hosts.set(leaf.id, host);
      place(host.element, box);
      host.element.classList.toggle("single", leaves.length === 1);
      host.element.classList.toggle("active", leaf.id === current.active);
      untracked(() => setHidden(host, false));
    }
    if (dividers.length) this.#showDividers(current.key, dividers);
    this.#dropUnused(shown);
  }

  /** Returns the ids of the panes folded to one line. */
  #folded(): ReadonlySet<number> {
    const panes = [...this.#workspace.panes.value];
    return new Set(panes.flatMap(([id, pane]) => (pane.folded?.value ? id : [])));
  }

  #showDividers(key: number, dividers: readonly Divider[]): void {
    if (!this.#bars) {
      void import("./divider-bar")
        .then(bars => {
          this.#bars = bars;
          untracked(() => this.#show());
        })
        .catch(() => {}); // if loading fails, it is retried the next time the panes change
      return;
    }
    const { DividerBar } = this.#bars;
    this.#dividers = dividers.map(divider => new DividerBar(this.#element, this.#workspace, key, divider));
  }

  /** Disposes of the least recently used hidden panes until no more than the maximum are left. */
  #dropUnused(shown: ReadonlySet<number>): void {
    const hidden = [...this.#hosts.keys()].filter(id => !shown.has(id));
    for (const id of hidden.slice(0, Math.max(0, hidden.length - MAX_HIDDEN))) this.#drop(id);
  }

  #create(leaf: Leaf): Hosted {
    const element = document.createElement("section");
    element.className = "pane";
    element.dataset.pane = String(leaf.id);
    const title = document.createElement("span");
    const close = document.createElement("button");
    close.type = "button";
    close.className = "pane-close";
    close.title = "Close this pane";
    close.textContent = "×";
    close.addEventListener("click", () => this.#close(leaf.id));
    const head = document.createElement("header");
    head.append(title, close);
    const body = document.createElement("div");
    body.className = "pane-body";
    element.append(head, body);
    this.#element.append(element);
    const disposables = new DisposableList();
    disposables.defer(() => element.remove());
    const host: Hosted = { element, title, dispose: () => disposables.dispose() };
    void this.#load(leaf, host, body, disposables);
    return host;
  }

  async #load(leaf: Leaf, host: Hosted, body: HTMLElement, disposables: DisposableList): Promise<void> {
    let create: Awaited<ReturnType<PaneKind["load"]>> | undefined;
    let missing = "This view could not be loaded. Reload the page.";
    try {
      create = await (await this.#registry.pane(leaf.kind))?.load();
      missing = `There is no view "${leaf.kind}".`;
    } catch {}
    if (this.#hosts.get(leaf.id) !== host) return; // the pane was closed while it was loading
    if (!create) {
      body.textContent = missing;
      body.className = "pane-body missing";
      return;
    }
    const pane = create(this.#app, leaf.state);
    host.pane = pane;
    disposables.add(pane, pane.mount(body));
    disposables.defer(
      effect(() => {
        const title = visible(pane.title.value);
        host.title.textContent = title;
        host.element.setAttribute("aria-label", title);
      }),
    );
    const { panes } = this.#workspace;
    panes.value = new Map([...panes.value, [leaf.id, pane]]);
    pane.setVisible?.(!host.element.hidden);
    if (this.#workspace.current.value?.active === leaf.id) pane.focus();
  }

  #drop(id: number): void {
    const host = this.#hosts.get(id);
    this.#hosts.delete(id);
    const { panes } = this.#workspace;
    // This uses `peek`, because the effect that calls this method must not depend on a signal that it changes.
    const known = panes.peek();
    if (known.has(id)) panes.value = new Map([...known].filter(([key]) => key !== id));
    host?.dispose();
  }

  /** A pane becomes active when it receives the focus. */
  #focused({ target }: FocusEvent): void {
    const current = this.#workspace.current.value;
    if (!current || !(target instanceof HTMLElement)) return;
    for (const [id, { element }] of this.#hosts)
      if (element.contains(target) && id !== current.active) {
        this.#workspace.focus(current.key, id);
        // A pane takes the focus when it becomes active, so the focus is moved back to the element that had it.
        target.focus();
      }
  }
}

function setHidden({ element, pane }: Hosted, hidden: boolean): void {
  if (element.hidden === hidden) return;
  element.hidden = hidden;
  pane?.setVisible?.(!hidden);
}

function place({ style }: HTMLElement, box: Box): void {
  style.left = cssLength(box, "x");
  style.top = cssLength(box, "y");
  style.width = cssLength(box, "width");
  style.height = cssLength(box, "height");
}
