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

/** The state of a pane in the page's address. A reload or a copied link restores it. */
export type PaneState = Readonly<Record<string, string>>;

/** The dot on a tab: the pane's program runs (`running`), has failed (`failed`) or needs the user (`attention`). */
export type PaneStatus = "idle" | "running" | "failed" | "attention";

/** The progress of a program. `busy` means that it is working, but that its progress is unknown. */
export interface Progress {
  readonly kind: "normal" | "error" | "paused" | "busy";
  /** 0 to 100. */
  readonly percent: number;
}

/** One rectangle of the page. Disposing of a pane ends everything that it has started. */
export interface Pane extends Disposable {
  /** Name of the pane's kind in the registry. */
  readonly kind: string;
  /** Title in the tab and in the pane's header. */
  readonly title: ReadonlySignal<string>;
  readonly status: ReadonlySignal<PaneStatus>;
  /** The dot or progress shown on the tab. */
  readonly progress?: ReadonlySignal<Progress | undefined>;
  /** Whether the pane is folded to one line, so that the other panes of its split get the remaining space. */
  readonly folded?: ReadonlySignal<boolean>;
  /**
   * Draws the pane into `element`, which the page owns. The page calls it once. Disposing of the result removes the
   * drawn elements.
   */
  mount(element: HTMLElement): Disposable;
  /** Gives the keyboard focus to the pane. */
  focus(): void;
  /** Changes whether the user sees the pane. A hidden pane does not have to draw. */
  setVisible?(visible: boolean): void;
  /**
   * Returns the state that restores the same view after a reload. The page calls it after each `AppContext.changed`.
   */
  state(): PaneState;
  /**
   * Shows `state` in this pane instead of a new pane and returns true; returns false if the state belongs to another
   * object.
   */
  adopt?(state: PaneState): boolean;
  /** Whether the next opened file can replace this pane, because the user has not edited its file. */
  readonly replaceable?: boolean;
  /**
   * Returns the pane's current directory, where dropped files are stored; an empty path is the workspace. Throws
   * HawseError.
   */
  directory?(): Promise<string>;
  /** Accepts text that is dropped on the pane. */
  takeText?(text: string): void;
  /** Resolves with false if the user wants to keep the pane, for example because of unsaved changes. */
  mayClose?(): Promise<boolean>;
}

/** Where a new pane appears: in a new tab, or beside the active pane. */
export type Place = "tab" | "right" | "below";

/** An emulator that displays the bytes written to it. */
export interface EmulatorScreen extends Disposable {
  readonly terminal: Terminal;
  resize(cols: number, rows: number): void;
}

/** Operations on the viewers of terminals. `terminal` is a terminal's id. The methods read signals. */
export interface PeopleContext {
  /** Returns the id of this page's viewer at `terminal`; undefined if the page does not show the terminal. */
  me(terminal: string): string | undefined;
  /** Returns whether only this user can type in the terminal, and can hand over the keyboard. */
  holds(terminal: string): boolean;
  follows(terminal: string, viewer: string): boolean;
  /** Starts or stops following the viewer. */
  follow(terminal: string, viewer: Participant): void;
  /** Hands the keyboard over. */
  give(terminal: string, viewer: Participant): void;
}

/** The page's interface for panes and for views in the rail. */
export interface AppContext {
  readonly client: GatewayClient;
  /** Id of the sandbox that the page shows. */
  readonly sandbox: string;
  /** The tabs and their panes. */
  readonly workspace: Workspace;
  /** Whether the user can only view. */
  readonly readOnly: ReadonlySignal<boolean>;
  /** Directory of the active terminal; empty if unknown. */
  readonly directory: ReadonlySignal<string>;
  /** Undefined until the page has loaded this module. */
  readonly people: ReadonlySignal<PeopleContext | undefined>;
  /** Shows a pane. If a pane with an equal state is open, it gets the focus instead. */
  open(kind: string, state: PaneState, place?: Place): void;
  /** Shows a view of the rail. */
  show(view: string): void;
  /** Called when the state of `pane` has changed; updates the address. */
  changed(pane: Pane): void;
  /** Id of the active terminal, or of the last active terminal. */
  readonly terminal: ReadonlySignal<string>;
  /** Opens an emulator with the user's font and theme. `host` is a child of `stage`, which centres it. */
  screen(stage: HTMLElement, host: HTMLElement): Promise<EmulatorScreen>;
  /** Copies text and shows a message. */
  copy(text: string): Promise<void>;
  /** Shows a message for a few seconds. */
  toast(text: string): void;
  /** Returns a new ticket for a download or another request by URL. Throws HawseError. */
  ticket(): Promise<string>;
  /** Returns the store of the user's unsaved texts in this browser. */
  drafts(): Promise<Drafts>;
  /** Runs a command line in the shell of the active terminal. */
  run(line: string): void;
  /** Returns the focus to the active pane. */
  focus(): void;
}

/** A kind of pane. Its module is loaded when the first pane of this kind is shown. */
export interface PaneKind {
  /** Name of the kind in the address, in lower-case letters. */
  readonly kind: string;
  load(): Promise<(app: AppContext, state: PaneState) => Pane>;
}

export interface RailProps {
  app: AppContext;
  /** Whether the page has opened the view after a reload, so that the focus does not move. */
  restored: boolean;
}

/** A view in the rail. Its module is loaded when the user opens the view. */
export interface RailView {
  readonly id: string;
  readonly label: string;
  readonly icon: IconNode;
  load(): Promise<ComponentType<RailProps>>;
}
