// Follows another viewer: the page shows the pane that the viewer is looking at, scrolled to the same position, until
// the user types, scrolls or goes to another pane.

import { effect, type ReadonlySignal, signal, untracked } from "@preact/signals";
import { type Disposable, DisposableList } from "../../base/disposables";
import { byId, make, setText } from "../../base/dom";
import type { AppContext } from "../../frame/pane";
import { leavesOf } from "../../frame/tree";
import { TERMINAL } from "../../frame/workspace";
import type { Participant } from "../../wire/methods";
import type { PageCore } from "../page-core";
import type { TerminalPane } from "../terminal/terminal-pane";
import { scrolledBack, type View, viewFromText } from "./view-text";

/**
 * The kinds of panes that may be opened when following another user. These panes only display something: another user's
 * page must not be able to make this page run or load anything else.
 */
const SHOWN: ReadonlySet<string> = new Set(["editor", "recording", "log"]);

export interface Followed {
  /** Public id of the viewer on the terminal where the user started following. */
  readonly id: string;
  /** The terminal where the user started following. The page being followed sends its view to all of its terminals. */
  readonly at: TerminalPane;
}

export class Following implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #page: PageCore;
  readonly #app: AppContext;
  readonly #followed = signal<Followed | undefined>(undefined);
  readonly #marker = make("div", "following");
  readonly #text = make("span", "");
  /** Disposed of when following ends. */
  #session = new DisposableList();
  #name = "";
  /** Id of the pane that shows what the followed viewer is looking at. */
  #leaf: number | undefined;

  constructor(page: PageCore, app: AppContext) {
    this.#page = page;
    this.#app = app;
    const stop = make("button", "plain", "Stop");
    stop.type = "button";
    this.#marker.role = "status";
    this.#marker.hidden = true;
    this.#marker.append(make("i", "dot"), this.#text, stop);
    byId("stage").append(this.#marker);
    this.#disposables.listen(stop, "click", () => {
      this.stop();
      app.focus();
    });
    this.#disposables.defer(() => this.#marker.remove());
    this.#disposables.defer(() => this.stop());
  }

  /** The viewer being followed; undefined if the page isn't following anyone. */
  readonly followed: ReadonlySignal<Followed | undefined> = this.#followed;

  start(at: TerminalPane, { id, name, color }: Participant): void {
    this.stop();
    this.#name = name;
    this.#followed.value = { id, at };
    this.#leaf = this.#page.workspace.current.peek()?.active;
    this.#marker.style.setProperty("--color", color);
    byId("stage").style.setProperty("--followed", color);
    byId("stage").classList.add("followed");
    this.#marker.hidden = false;
    this.#listen();
    this.#session.defer(effect(() => this.#update()));
    this.#app.focus();
  }

  /** Stops following. If the user didn't request it, `why` is shown to the user. */
  stop(why?: string): void {
    if (!this.#followed.peek()) return;
    this.#followed.value = undefined;
    this.#session.dispose();
    this.#session = new DisposableList();
    this.#marker.hidden = true;
    byId("stage").classList.remove("followed");
    if (why) this.#app.toast(why);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Stops following when the user types, scrolls or presses Escape. The Escape key isn't sent to a program. */
  #listen(): void {
    const options = { capture: true, passive: true };
    const own = (event: Event) => event.target instanceof Element && event.target.closest("#panes") !== null;
    const onKey = (event: KeyboardEvent) => {
      if (document.querySelector("dialog[open], [popover]:popover-open")) return;
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopImmediatePropagation();
        this.stop();
      } else if (own(event) && !isModifier(event)) this.stop();
    };
    const onScroll = (event: Event) => own(event) && this.stop();
    const onPointer = (event: Event) =>
      event.target instanceof Element && event.target.closest(".scrollbar, .jump-pill") && this.stop();
    this.#session.listen(window, "keydown", onKey, { capture: true });
    this.#session.listen(window, "wheel", onScroll, options);
    this.#session.listen(window, "touchmove", onScroll, options);
    this.#session.listen(window, "pointerdown", onPointer, options);
  }

  /** Called whenever the viewers, panes or terminals have changed. */
  #update(): void {
    const followed = this.#followed.peek();
    if (!followed) return;
    const { workspace, activeTerminal, terminals } = this.#page;
    const { people } = followed.at.people.value ?? {};
    const current = workspace.current.value;
    const there = [...workspace.panes.value.values()].includes(followed.at);
    const viewer = people?.others.find(({ id }) => id === followed.id);
    activeTerminal.value?.opened.value;
    terminals.list.value;
    untracked(() => {
      if (!viewer || !there) this.stop(`${this.#name} has left.`);
      else if (current?.active !== this.#leaf) this.stop();
      else this.#show(viewer, followed.at);
    });
  }

  #show(viewer: Participant, at: TerminalPane): void {
    this.#name = viewer.name;
    const view = viewFromText(viewer.view ?? "") ?? {
      kind: TERMINAL,
      state: at.state(),
      scroll: viewer.scroll ?? 0,
    };
    const shown = this.#open(view);
    const elsewhere = shown ? "" : ` · ${viewer.name} looks at something else`;
    setText(this.#text, `Following ${viewer.name} — Esc to stop${elsewhere}`);
    if (shown && view.kind === TERMINAL) this.#scroll(view.scroll);
  }

  /** Returns whether the page is showing the pane that the viewer is looking at. */
  #open({ kind, state }: View): boolean {
    const { workspace, terminals, readOnly } = this.#page;
    const leaf = leavesOf(workspace.current.peek()?.tree ?? NOTHING).find(({ id }) => id === this.#leaf);
    if (leaf?.kind === kind && sameText(leaf.state, state)) return true;
    if (kind === TERMINAL) {
      // Following a viewer must not create a terminal.
      const known = terminals.list.peek().some(({ id }) => id === state.id);
      if (!known || !state.id) return false;
    } else if (!SHOWN.has(kind) || readOnly.peek()) return false;
    this.#app.open(kind, kind === TERMINAL ? { id: state.id as string } : state, "tab");
    this.#leaf = workspace.current.peek()?.active;
    return true;
  }

  #scroll(rows: number): void {
    const terminal = this.#page.opened?.terminal;
    if (!terminal || scrolledBack(terminal) === rows) return;
    if (rows === 0) terminal.scrollToBottom();
    else terminal.scrollToLine(Math.max(0, terminal.buffer.active.baseY - rows));
  }
}

const NOTHING = { type: "leaf", id: 0, kind: "", state: {} } as const;

function sameText(one: object, other: object): boolean {
  return JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
}

/** Keys that don't type anything: modifiers, and F6 if it has moved the focus to another region of the page. */
function isModifier({ key, defaultPrevented }: KeyboardEvent): boolean {
  if (key === "F6") return defaultPrevented;
  return ["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock"].includes(key);
}
