// Connects an xterm.js terminal to a TerminalChannel. This is the only call that an embedding page needs.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList, Emitter } from "../base/disposables";
import type { TerminalAttach } from "../wire/methods";
import { EmulatorInput, type EmulatorInputOptions } from "./emulator-input";
import { OrderedWriter } from "./ordered-writer";
import { type MayPaste, type Pastable, takePastes } from "./paste";
import { type ChannelSource, type TerminalAddress, TerminalChannel } from "./terminal-channel";

export interface AttachedTerminal extends Disposable {
  readonly channel: TerminalChannel;
  /** Called when the user has typed, pasted or used the mouse in the terminal. */
  readonly onUserInput: Emitter<void>["on"];
  /** Called once the emulator shows the whole replay, or the final output of a terminal that has ended. */
  readonly onReplayed: Emitter<void>["on"];
}

type Xterm = Pick<
  Terminal,
  "cols" | "rows" | "options" | "write" | "resize" | "reset" | "onData" | "onBinary"
> &
  Pastable;

export interface AttachOptions extends Pick<EmulatorInputOptions, "translate"> {
  /** Returns additional parameters for each attach. */
  introduce?: () => Partial<TerminalAttach>;
  /** Asks before several lines are pasted into a program that would run each of them. */
  mayPaste?: MayPaste;
}

/**
 * Connects `terminal` to the terminal at `address`. Call `channel.attach()` to start. Disposing of the result
 * disconnects the xterm.js terminal and leaves it unchanged. While it is connected, pasted text cannot contain control
 * sequences
 * (`paste.ts`).
 */
export function attachXterm(
  terminal: Xterm,
  client: ChannelSource,
  address: TerminalAddress,
  options: AttachOptions = {},
): AttachedTerminal {
  const disposables = new DisposableList();
  const onUserInput = new Emitter<void>();
  const onReplayed = new Emitter<void>();
  const input = new EmulatorInput(terminal, {
    ...options,
    send: (bytes, byUser) => {
      if (byUser) onUserInput.emit();
      channel.send(bytes);
    },
  });
  const writer = new OrderedWriter(terminal, open => input.setGate(open));
  const channel = new TerminalChannel(client, address, writer, options.introduce);
  const replayed = channel.onState(({ phase }) => {
    if (phase === "live" || phase === "ended") writer.afterwards(() => onReplayed.emit());
  });
  const pastes = takePastes(terminal, options.mayPaste, send => input.verbatim(send));
  disposables.add(writer, input, pastes, channel, replayed);
  return {
    channel,
    onUserInput: onUserInput.on,
    onReplayed: onReplayed.on,
    dispose: () => disposables.dispose(),
  };
}
