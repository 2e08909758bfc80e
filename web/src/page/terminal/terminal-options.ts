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

/** The parts of the page that only terminal panes use. `AppContext` contains the parts that all panes use. */
export interface TerminalOptions {
  readonly settings: SettingsStore;
  readonly theme: PageTheme;
  readonly viewerKey: string;
  /** The sandbox's terminals. They are used to choose names that don't look alike. */
  readonly terminals: ReadonlySignal<readonly TerminalInfo[]>;
  /** Modifies the user's text before it is sent, for example to apply a touch keyboard's sticky Ctrl key. */
  readonly translate: (text: string) => string;
  /**
   * Called with true when the bell has rung while the page was in the background, and with false when the user has
   * returned.
   */
  readonly rung: (unseen: boolean) => void;
  /** Called when the cursor of the active terminal has entered or left the upper half of its pane. */
  readonly cursorMoved: (inUpperHalf: boolean) => void;
  /** Called when the user wants to start the sandbox of a terminal that failed because the sandbox is stopped. */
  readonly startSandbox: () => void;
  readonly showSandboxes: () => void;
  /** Shows that a part of the page couldn't be loaded. */
  readonly failed: (problem: Error) => void;
  /** Opens a preview of a port in the sandbox. */
  readonly preview: (address: LocalAddress) => void;
  /** Called when the user has typed while only the viewer with this name can type. */
  readonly typingRefused: (holder: string) => void;
  /** Whether the page is following another viewer, who then determines the size. */
  readonly following: () => boolean;
  /** Called when the user closes a pane whose shell has ended. */
  readonly close: (pane: TerminalPane) => void;
  /** Whether the page has other panes. */
  readonly closable: () => boolean;
  /** Shows the actions for a command in this terminal. */
  readonly commandMenu: (pane: TerminalPane, command: Command, bar: HTMLElement) => void;
}

/** The parts of a terminal whose emulator is open. */
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

/** A terminal's size if it differs from the size that fits, and the active viewer, who determines it. */
export interface ForeignSize {
  readonly cols: number;
  readonly rows: number;
  readonly of: Participant | undefined;
  /** Whether the user may resize the terminal. */
  readonly mayUse: boolean;
}
