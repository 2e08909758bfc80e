// Keys that are never sent to a terminal's program, and keys used by the page that a program can receive.

import type { Terminal } from "@xterm/xterm";
import type { TerminalChannel } from "../../terminal/terminal-channel";
import type { Commands } from "../commands/commands";
import { handleClipboardKey } from "./clipboard";

export interface KeyActions {
  /** Called when the user has typed without being allowed to. */
  refused: () => void;
  /** Starts a new shell once the last one has ended. */
  restart: () => void;
}

export function handleKeys(
  terminal: Terminal,
  channel: TerminalChannel,
  { refused, restart }: KeyActions,
): void {
  terminal.attachCustomKeyEventHandler(event => {
    if (event.type === "keydown" && !channel.people.mayType && isTyping(event)) refused();
    if (handleClipboardKey(terminal, event)) return false;
    if (event.key !== "Enter" || channel.state.phase !== "ended") return true;
    if (event.type === "keydown") restart();
    return false;
  });
}

/** Whether the key types text into the terminal. */
function isTyping({ key, ctrlKey, altKey, metaKey }: KeyboardEvent): boolean {
  return (key.length === 1 && !ctrlKey && !altKey && !metaKey) || key === "Enter" || key === "Backspace";
}

/**
 * Whether a program in the terminal could use the function keys. A shell at its prompt doesn't use F6 and Shift+F6:
 * bash, zsh and fish don't bind them. A shell that doesn't report its prompts may be running a program.
 */
export function programMayWantKeys(
  { buffer }: Pick<Terminal, "buffer">,
  { state, people }: Pick<TerminalChannel, "people" | "state">,
  { atPrompt }: Pick<Commands, "atPrompt">,
): boolean {
  if (state.phase === "ended" || state.phase === "failed" || people.readOnly) return false;
  return buffer.active.type === "alternate" || !atPrompt;
}
