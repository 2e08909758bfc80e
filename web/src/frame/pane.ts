// The interfaces between the page's frame and its contents: panes in the split tree, and views in the rail.

import type { ReadonlySignal } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";
import type { IconNode } from "lucide";
import type { ComponentType } from "preact";
import type { Disposable } from "../base/disposables";
import type { Drafts } from "../base/drafts";
import type { GatewayClient } from "../client/client";
import type { Participant } from "../wire/methods";
import type { Workspace } from "./workspace";

/** A pane's state in the page address. It is restored by a reload or from a copied link. */
export type PaneState = Readonly<Record<string, string>>;

/**
 * The dot on a tab: the pane's program is running (`running`), has failed (`failed`) or needs the user (`attention`).
 */
export type PaneStatus = "idle" | "running" | "failed" | "attention";

/** A program's progress. `busy` means that it's working, but its progress is unknown. */
export interface Progress {
  readonly kind: "normal" | "error" | "paused" | "busy";
  /** 0 to 100. */
  readonly percent: number;
}

/** One rectangle on the page. Disposing of a pane ends everything it has started. */
export interface Pane extends Disposable {
  /** The pane's kind, as named in the registry. */
  readonly kind: string;
  /** Title for the tab and the pane's header. */
  readonly title: ReadonlySignal<string>;
  readonly status: ReadonlySignal<PaneStatus>;
  /** The dot or progress shown on the tab. */
  readonly progress?: ReadonlySignal<Progress | undefined>;
  /** Whether the pane is folded to one line, so that the other panes in its split get the remaining space. */
  readonly folded?: ReadonlySignal<boolean>;
  /**
   * Draws the pane into `element`, which belongs to the page. The page calls this once. Disposing of the result removes
   * the elements drawn.
   */
  mount(element: HTMLElement): Disposable;
  /** Moves the keyboard focus to the pane. */
  focus(): void;
  /** Tells the pane whether the user can see it. A hidden pane doesn't have to draw. */
  setVisible?(visible: boolean): void;
  /**
   * Returns the state needed to restore the same view after a reload. The page calls this after each
   * `AppContext.changed`.
   */
  state(): PaneState;
  /**
   * Shows `state` in this pane instead of in a new one and returns true; returns false if the state belongs to a
   * different object.
   */
  adopt?(state: PaneState): boolean;
  /** Whether the next file that is opened can replace this pane, because the user hasn't edited this file. */
  readonly replaceable?: boolean;
  /**
   * Returns the pane's current directory, where dropped files are stored; an empty path means the workspace. Throws
   * HawseError.
   */
  directory?(): Promise<string>;
  /** Accepts text dropped on the pane. */
  takeText?(text: string): void;
  /** Resolves to false if the user wants to keep the pane, for example because of unsaved changes. */
  mayClose?(): Promise<boolean>;
}

/** Where a new pane appears: in a new tab or beside the active pane. */
export type Place = "tab" | "right" | "below";

/** An emulator that displays the bytes written to it. */
export interface EmulatorScreen extends Disposable {
  readonly terminal: Terminal;
  resize(cols: number, rows: number): void;
}

/** Operations on terminal viewers. `terminal` is a terminal id. The methods read signals. */
export interface PeopleContext {
  /** Returns the id of this page's viewer on `terminal`; undefined if the page isn't showing the terminal. */
  me(terminal: string): string | undefined;
  /** Returns whether only this user can type in the terminal, and so can hand over the keyboard. */
  holds(terminal: string): boolean;
  follows(terminal: string, viewer: string): boolean;
  /** Starts or stops following a viewer. */
  follow(terminal: string, viewer: Participant): void;
  /** Hands over the keyboard. */
  give(terminal: string, viewer: Participant): void;
}

/** The page's interface for panes and rail views. */
export interface AppContext {
  readonly client: GatewayClient;
  /** Id of the sandbox shown on the page. */
  readonly sandbox: string;
  /** The tabs and their panes. */
  readonly workspace: Workspace;
  /** Whether the user can only view. */
  readonly readOnly: ReadonlySignal<boolean>;
  /** The active terminal's directory; empty if unknown. */
  readonly directory: ReadonlySignal<string>;
  /** The operations on viewers; undefined until the page has loaded their module. */
  readonly people: ReadonlySignal<PeopleContext | undefined>;
  /** Shows a pane. If a pane with the same state is already open, it gets the focus instead. */
  open(kind: string, state: PaneState, place?: Place): void;
  /** Shows a rail view. */
  show(view: string): void;
  /** Called when the state of `pane` has changed; updates the address. */
  changed(pane: Pane): void;
  /** Id of the active terminal, or of the one that was last active. */
  readonly terminal: ReadonlySignal<string>;
  /** Opens an emulator with the user's font and theme. `host` is a child of `stage`, which centres it. */
  screen(stage: HTMLElement, host: HTMLElement): Promise<EmulatorScreen>;
  /** Copies text and shows a message. */
  copy(text: string): Promise<void>;
  /** Shows a message for a few seconds. */
  toast(text: string): void;
  /** Returns a new ticket for a download or another request made by URL. Throws HawseError. */
  ticket(): Promise<string>;
  /** Returns the store for the user's unsaved texts in this browser. */
  drafts(): Promise<Drafts>;
  /** Runs a command line in the active terminal's shell. */
  run(line: string): void;
  /** Moves the focus back to the active pane. */
  focus(): void;
}

/** A kind of pane. Its module is loaded when the first pane of this kind is shown. */
export interface PaneKind {
  /** Name of the kind in the address, in lowercase letters. */
  readonly kind: string;
  load(): Promise<(app: AppContext, state: PaneState) => Pane>;
}

export interface RailProps {
  app: AppContext;
  /** Whether the page reopened the view after a reload. If so, the focus doesn't move. */
  restored: boolean;
}

/** A view in the rail. Its module is loaded when the user opens the view. */
export interface RailView {
  readonly id: string;
  readonly label: string;
  readonly icon: IconNode;
  load(): Promise<ComponentType<RailProps>>;
}
