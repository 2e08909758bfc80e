// Features for several viewers: their circles in the header, following, and the keyboard, which one viewer can hold.
// They're in a separate chunk that is loaded after the first prompt.

import { sandboxHandle } from "../../client/sandbox";
import "../style/collaboration.css";
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { type Disposable, DisposableList } from "../../base/disposables";
import { byId } from "../../base/dom";
import type { AppContext, PeopleContext } from "../../frame/pane";
import { TERMINAL } from "../../frame/workspace";
import type { Participant } from "../../wire/methods";
import type { PaneActions } from "../actions/pane-actions";
import type { PageCore } from "../page-core";
import { runningIds } from "../shell/terminal-list";
import { TerminalPane } from "../terminal/terminal-pane";
import { Following } from "./following";
import { askName, isNameless } from "./guest-name";
import { KeyboardNotices } from "./keyboard";
import { PeopleBar } from "./people-bar";
import { PresenceWithoutTerminal, withMe } from "./presence-without-terminal";
import { placeOf, SandboxViewers } from "./sandbox-viewers";
import { ViewSharing } from "./view-sharing";
import { viewToText } from "./view-text";

/** Maximum time until the followed viewer appears on a terminal that was opened to follow them, in milliseconds. */
const OPEN_TIME = 10_000;

export class Collaboration implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #page: PageCore;
  readonly #app: AppContext;
  readonly following: Following;
  readonly keyboard: KeyboardNotices;
  readonly #presence: PresenceWithoutTerminal;
  /** The terminal whose viewers are shown: the active terminal, or the one that was last active. */
  readonly #last = signal<TerminalPane | undefined>(undefined);

  constructor(page: PageCore, app: AppContext, panes: PaneActions) {
    this.#page = page;
    this.#app = app;
    this.following = new Following(page, app);
    this.keyboard = new KeyboardNotices(page, panes);
    const { followed } = this.following;
    const { workspace } = page;
    const pane = computed(() => {
      const last = this.#last.value;
      const there = [...workspace.panes.value.values()].some(each => each === last);
      return page.activeTerminal.value ?? (there ? last : undefined);
    });
    const sandboxViewers = new SandboxViewers(
      sandboxHandle(app.client, app.sandbox),
      computed(() => workspace.active.value !== undefined && pane.value === undefined),
    );
    const presence = new PresenceWithoutTerminal({
      client: page.client,
      sandbox: page.sandbox,
      viewerKey: page.viewerKey,
      name: () => page.settings.value.name,
      terminal: computed(() => this.#terminalToStandAt()),
      view: computed(() => {
        const active = workspace.current.value && workspace.active.value;
        return active ? viewToText({ kind: active.kind, state: active.state(), scroll: 0 }) : "";
      }),
    });
    this.#presence = presence;
    const bar = new PeopleBar({
      source: computed(
        () => pane.value?.people.value ?? withMe(sandboxViewers.people.value, presence.me.value),
      ),
      followed: computed(() => (followed.value?.at === pane.value ? followed.value?.id : undefined)),
      follow: viewer => {
        const place = placeOf(viewer);
        if (place) this.#follow(place.terminal, place.viewer);
        else if (pane.peek()) this.#follow((pane.peek() as TerminalPane).id, viewer);
      },
      give: viewer => void panes.lease("give", { pane: pane.peek(), to: viewer.id }),
      rename: name => this.#rename(name),
    });
    page.peopleContext.value = this.#context(panes);
    this.#disposables.add(sandboxViewers, presence);
    const sharing = new ViewSharing(
      page,
      computed(() => followed.value !== undefined),
    );
    this.#disposables.add(this.following, this.keyboard, bar, sharing);
    this.#askForName(computed(() => pane.value?.people.value?.people.me));
    this.#disposables.defer(
      pane.subscribe(value => {
        this.#last.value = value;
      }),
    );
  }

  dispose(): void {
    this.#page.peopleContext.value = undefined;
    this.#disposables.dispose();
  }

  #context(panes: PaneActions): PeopleContext {
    const peopleAt = (terminal: string) => this.#paneOf(terminal)?.people.value?.people;
    return {
      me: terminal => {
        const { me } = this.#presence;
        return (
          peopleAt(terminal)?.me?.id ?? (me.value?.terminal === terminal ? me.value.viewer.id : undefined)
        );
      },
      holds: terminal => {
        const { me, lease } = peopleAt(terminal) ?? {};
        return me !== undefined && lease?.holder === me.id;
      },
      follows: (terminal, viewer) => {
        const { id, at } = this.following.followed.value ?? {};
        return id === viewer && at?.id === terminal;
      },
      follow: (terminal, viewer) => this.#follow(terminal, viewer),
      give: (terminal, { id }) => void panes.lease("give", { pane: this.#paneOf(terminal), to: id }),
    };
  }

  /**
   * Returns the terminal where other viewers see the user of a page that shows no terminal: the last one that the page
   * showed, or else the oldest one. Returns undefined if the page shows a terminal.
   */
  #terminalToStandAt(): string | undefined {
    const { workspace, terminals, lastTerminal } = this.#page;
    const panes = [...workspace.panes.value.values()];
    if (panes.length === 0 || panes.some(pane => pane instanceof TerminalPane)) return undefined;
    const running = runningIds(terminals.list.value);
    return running.includes(lastTerminal.value) ? lastTerminal.value : running[0];
  }

  #paneOf(terminal: string): TerminalPane | undefined {
    for (const pane of this.#page.workspace.panes.value.values())
      if (pane instanceof TerminalPane && pane.id === terminal) return pane;
    return undefined;
  }

  /** Starts or stops following a viewer, who may be on a terminal that the page isn't showing. */
  #follow(terminal: string, viewer: Participant): void {
    const { id, at } = this.following.followed.peek() ?? {};
    if (id === viewer.id && at?.id === terminal) {
      this.following.stop();
      this.#page.focus();
      return;
    }
    this.#app.open(TERMINAL, { id: terminal }, "tab");
    const waiting = new DisposableList();
    const timer = setTimeout(() => waiting.dispose(), OPEN_TIME);
    waiting.defer(() => clearTimeout(timer));
    this.#disposables.add(waiting);
    const stop = effect(() => {
      const pane = this.#paneOf(terminal);
      const found = pane?.people.value?.people.others.find(other => other.id === viewer.id);
      if (!pane || !found) return;
      queueMicrotask(() => {
        stop();
        waiting.dispose();
        this.following.start(pane, found);
        this.#page.focus();
      });
    });
    waiting.defer(stop);
  }

  #askForName(me: ReadonlySignal<Participant | undefined>): void {
    const nameless = computed(() => (isNameless(me.value) ? me.value?.name : undefined));
    let question: Disposable | undefined;
    this.#disposables.defer(
      effect(() => {
        question?.dispose();
        const name = nameless.value;
        question =
          name === undefined
            ? undefined
            : askName(byId("stage"), {
                name,
                storage: () => sessionStorage,
                rename: chosen => this.#rename(chosen),
                declined: () => this.#page.focus(),
              });
      }),
    );
    this.#disposables.defer(() => question?.dispose());
  }

  #rename(name: string): void {
    this.#page.settings.update({ name });
    for (const pane of this.#page.workspace.panes.peek().values())
      if (pane instanceof TerminalPane) pane.opened.peek()?.shell.updatePresence({ name });
    this.#presence.rename(name);
    this.#page.focus();
  }
}
