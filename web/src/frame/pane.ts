// The interfaces between the frame of the page and its contents: panes in the split tree, and views in the rail.

import type { ReadonlySignal } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";
import type { IconNode } from "lucide";
import type { ComponentType } from "preact";
import type { Disposable } from "../base/disposables";
import type { Drafts } from "../base/drafts";
import type { GatewayClient } from "../client/client";
import type { Participant } from "../wire/methods";
import type { Workspace } from "./workspace";

/** The state of a pane in the page's address, which a reload or a copied link restores. */
export type PaneState = Readonly<Record<string, string>>;

/** The dot of a tab: something runs (`running`), ended with an error (`failed`) or needs the user (`attention`). */
export type PaneStatus = "idle" | "running" | "failed" | "attention";

/** The progress of a program. `busy`: it works, without a known progress. */
export interface Progress {
  readonly kind: "normal" | "error" | "paused" | "busy";
  /** 0 to 100. */
  readonly percent: number;
}

/** One rectangle of the page. Disposing it ends everything that it has started. */
export interface Pane extends Disposable {
  /** The name of its kind in the registry. */
  readonly kind: string;
  /** Its name in the tab and in the pane's header. */
  readonly title: ReadonlySignal<string>;
  readonly status: ReadonlySignal<PaneStatus>;
  /** Shown on the tab. */
  readonly progress?: ReadonlySignal<Progress | undefined>;
  /** Whether it needs only a line of the space that it has: the others of its split get the rest. */
  readonly folded?: ReadonlySignal<boolean>;
  /** Draws into `element`, which the page owns. The page calls it once. Disposing the result removes what it has drawn. */
  mount(element: HTMLElement): Disposable;
  /** Gives the keyboard focus to the pane. */
  focus(): void;
  /** Changes whether the user sees the pane: a hidden one need not draw. */
  setVisible?(visible: boolean): void;
  /** Returns what leads to the same view after a reload. The page calls it after each `AppContext.changed`. */
  state(): PaneState;
  /** Shows `state` in this pane instead of a new one and returns true; returns false if it belongs to another object. */
  adopt?(state: PaneState): boolean;
  /** Whether the next file can replace this one: the user has not edited it. */
  readonly replaceable?: boolean;
  /** Returns the directory that it is in, for files that are dropped on it; empty: the workspace. Throws HawseError. */
  directory?(): Promise<string>;
  /** Accepts text that is dropped on it. */
  takeText?(text: string): void;
  /** Resolves with false if the user wants to keep the pane, for example because of changes that are not saved. */
  mayClose?(): Promise<boolean>;
}

/** Where a new pane appears: in a new tab, or beside the active pane. */
export type Place = "tab" | "right" | "below";

/** An emulator that shows what is written to it. */
export interface EmulatorScreen extends Disposable {
  readonly terminal: Terminal;
  resize(cols: number, rows: number): void;
}

/** Operations on the viewers of terminals. `terminal`: id of a terminal. Its methods read signals. */
export interface PeopleContext {
  /** Id of the viewer at `terminal` that is this page; undefined if the page does not show the terminal. */
  me(terminal: string): string | undefined;
  /** Whether only this user can type there, and can pass the keyboard on. */
  holds(terminal: string): boolean;
  follows(terminal: string, viewer: string): boolean;
  /** Starts or stops following the viewer. */
  follow(terminal: string, viewer: Participant): void;
  /** Hands the keyboard over. */
  give(terminal: string, viewer: Participant): void;
}

/** The interface of the page for panes and for views in the rail. */
export interface AppContext {
  readonly client: GatewayClient;
  /** Id of the sandbox that the page shows. */
  readonly sandbox: string;
  /** The tabs and their panes. */
  readonly workspace: Workspace;
  /** Whether the user may only look. */
  readonly readOnly: ReadonlySignal<boolean>;
  /** Directory of the active terminal; empty while it is not known. */
  readonly directory: ReadonlySignal<string>;
  /** Undefined until the page has loaded it. */
  readonly people: ReadonlySignal<PeopleContext | undefined>;
  /** Shows a pane; one with an equal state that is already open gets the focus instead. */
  open(kind: string, state: PaneState, place?: Place): void;
  /** Shows a view of the rail. */
  show(view: string): void;
  /** The state of `pane` has changed: updates the address. */
  changed(pane: Pane): void;
  /** Id of the terminal that is active, or was active last. */
  readonly terminal: ReadonlySignal<string>;
  /** Opens an emulator in the user's font and theme: `host` is a child of `stage`, which centres it. */
  screen(stage: HTMLElement, host: HTMLElement): Promise<EmulatorScreen>;
  /** Copies text and shows a message. */
  copy(text: string): Promise<void>;
  /** Shows a short message for some seconds. */
  toast(text: string): void;
  /** Returns a new ticket for a download or another request by URL. Throws HawseError. */
  ticket(): Promise<string>;
  /** Returns the store of the user's unsaved texts in this browser. */
  drafts(): Promise<Drafts>;
  /** Runs a command line in the shell of the active terminal. */
  run(line: string): void;
  /** Gives the focus back to the active pane. */
  focus(): void;
}

/** A kind of pane. Its module is loaded when the first one is shown. */
export interface PaneKind {
  /** Its name in the address: lower-case letters. */
  readonly kind: string;
  load(): Promise<(app: AppContext, state: PaneState) => Pane>;
}

export interface RailProps {
  app: AppContext;
  /** Whether the page has opened the view after a reload: the focus stays where it is. */
  restored: boolean;
}

/** A view in the rail. Its module is loaded when the user opens it. */
export interface RailView {
  readonly id: string;
  readonly label: string;
  readonly icon: IconNode;
  load(): Promise<ComponentType<RailProps>>;
}
