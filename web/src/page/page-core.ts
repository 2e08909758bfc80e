// The state shared by the parts of the page: the client, the settings, the pane workspace and derived signals.

import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals";
import { type Disposable, DisposableList } from "../base/disposables";
import { GatewayClient, PATIENT } from "../client/client";
import type { PeopleContext } from "../frame/pane";
import type { RailState } from "../frame/rail";
import { Workspace } from "../frame/workspace";
import type { People } from "../terminal/people";
import type { OpenPort } from "../wire/methods";
import { readAddress } from "./address";
import { Overlays } from "./overlays";
import { PageFacts } from "./page-facts";
import { sessionOfPage } from "./session/session";
import { loadViewerKey, SettingsStore } from "./settings/settings";
import { PageTheme } from "./settings/theme";
import { questionsOf, runningIds } from "./shell/terminal-list";
import { Terminals } from "./shell/terminals";
import { TerminalPane } from "./terminal/terminal-pane";

export class PageCore implements Disposable {
  /** Disposables that belong to the page and are disposed of with it. */
  readonly disposables = new DisposableList();
  readonly address = readAddress(location.href);
  /** Whether this is an Apple system, where shortcuts are different. */
  readonly apple = /Mac|iPhone|iPad/.test(navigator.platform);
  /** Id of the sandbox shown on the page. */
  readonly sandbox = this.address.sandbox;
  readonly session = sessionOfPage(this.address);
  readonly settings = new SettingsStore(() => localStorage);
  readonly theme = new PageTheme(
    document.documentElement,
    matchMedia("(prefers-color-scheme: light)"),
    this.settings.value.theme,
  );
  readonly overlays = new Overlays();
  readonly viewerKey = loadViewerKey(() => sessionStorage);
  readonly client = new GatewayClient({
    ...PATIENT,
    token: this.session.credential,
    ticket: this.session.ticket,
  });
  readonly workspace = new Workspace();
  readonly rail: RailState = { open: signal(false), view: signal("") };
  readonly terminals = new Terminals(this.client, { sandbox: this.sandbox, toast: text => this.toast(text) });
  /** The terminals whose programs are asking a question, longest wait first. */
  readonly questions = computed(() => questionsOf(this.terminals.list.value));
  /** The active pane, if it is a terminal. */
  readonly activeTerminal = computed(() => {
    const pane = this.workspace.active.value;
    return pane instanceof TerminalPane ? pane : undefined;
  });
  /** Id of the active terminal or, if the active pane isn't a terminal, of the one that was last active. */
  readonly lastTerminal: ReadonlySignal<string>;
  /** The active terminal's viewers. */
  readonly people: ReadonlySignal<{ people: People } | undefined> = computed(
    () => this.activeTerminal.value?.people.value,
  );
  readonly facts = new PageFacts(this.client, this.sandbox, {
    terminals: this.terminals.list,
    active: this.activeTerminal,
  });
  /** Set once this part of the page has been loaded. */
  readonly peopleContext = signal<PeopleContext | undefined>(undefined);
  /** The ports that programs are listening on. */
  readonly ports = signal<readonly OpenPort[]>([]);
  /** Counts connection events. */
  readonly connection = signal(0);
  readonly readOnly: ReadonlySignal<boolean> = computed(() => {
    this.connection.value;
    return this.people.value?.people.readOnly || this.client.welcome?.role === "viewer";
  });
  /** Whether the bell has rung while the page was in the background. */
  readonly unseenBell = signal(false);

  constructor() {
    this.client.connect();
    const { disposables, workspace, terminals } = this;
    disposables.add(this.theme, this.overlays, terminals, this.facts);
    const last = signal(this.address.terminal);
    this.lastTerminal = last;
    disposables.defer(
      effect(() => {
        last.value = this.activeTerminal.value?.id ?? last.peek();
      }),
    );
    disposables.defer(
      effect(() => {
        const running = runningIds(terminals.list.value);
        untracked(() => running.length && workspace.syncTerminals(running));
      }),
    );
  }

  /** Shows a short message. */
  readonly toast = (text: string): void => this.overlays.toast(text);

  /** The active terminal; undefined until its emulator is open. */
  get opened() {
    return this.activeTerminal.peek()?.opened.peek();
  }

  /** Focuses the active pane. */
  readonly focus = (): void => this.workspace.active.peek()?.focus();

  dispose(): void {
    this.disposables.dispose();
  }
}
