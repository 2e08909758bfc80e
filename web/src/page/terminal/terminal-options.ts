// The interfaces between a terminal's pane and the page.

import type { ReadonlySignal } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";
import type { TerminalChannel } from "../../terminal/terminal-channel";
import type { Participant, TerminalInfo } from "../../wire/methods";
import type { Command, Commands } from "../commands/commands";
import type { SettingsStore } from "../settings/settings";
import type { PageTheme } from "../settings/theme";
import type { RecordingControl } from "../shell/recordings";
import type { Shell } from "../shell/shell";
import type { Layout } from "./layout";
import type { LocalAddress } from "./local-links";
import type { Sizing } from "./sizing";
import type { TerminalPane } from "./terminal-pane";

/** A terminal's dependencies on the page, besides the context of all panes. */
export interface TerminalOptions {
  readonly settings: SettingsStore;
  readonly theme: PageTheme;
  readonly viewerKey: string;
  /** The terminals of the sandbox: no two names may look alike. */
  readonly terminals: ReadonlySignal<readonly TerminalInfo[]>;
  /** Changes the user's text before it is sent: the sticky Ctrl of touch keyboards. */
  readonly translate: (text: string) => string;
  /** The terminal's title, directory or state has changed. */
  readonly listChanged: () => void;
  /** The bell has rung while the page was in the background (true), or the user has come back (false). */
  readonly rung: (unseen: boolean) => void;
  /** The cursor of the active terminal has entered or left the upper half of its pane. */
  readonly cursorMoved: (inUpperHalf: boolean) => void;
  /** The terminal failed because its sandbox is stopped, and the user wants to start it. */
  readonly startSandbox: () => void;
  readonly showSandboxes: () => void;
  /** Shows that a part of the page could not be loaded. */
  readonly failed: (problem: Error) => void;
  /** Opens the preview of a port of the sandbox. */
  readonly preview: (address: LocalAddress) => void;
  /** The user has typed, but only the viewer with this name may. */
  readonly typingRefused: (holder: string) => void;
  /** Whether the page follows another viewer: it then leaves the size to that viewer. */
  readonly following: () => boolean;
  /** The user closes the pane of an ended shell. */
  readonly close: (pane: TerminalPane) => void;
  /** Whether the page has other panes. */
  readonly closable: () => boolean;
  /** Shows what can be done with a command of this terminal. */
  readonly commandMenu: (pane: TerminalPane, command: Command, bar: HTMLElement) => void;
}

/** The parts of a terminal with an open emulator. */
export interface OpenTerminal {
  readonly terminal: Terminal;
  readonly channel: TerminalChannel;
  readonly layout: Layout;
  readonly shell: Shell;
  readonly commands: Commands;
  readonly find: () => Promise<void>;
  readonly recording: RecordingControl;
  readonly sizing: Sizing;
}

/** The size of a terminal that is not the one that fits here, and the viewer in use, which decides it. */
export interface ForeignSize {
  readonly cols: number;
  readonly rows: number;
  readonly of: Participant | undefined;
  /** Whether the user may give the terminal another size. */
  readonly mayUse: boolean;
}
