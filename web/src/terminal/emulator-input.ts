// Sends the input that xterm.js produces: the user's keys, pastes and mouse events, and the emulator's replies to
// queries in the output (cursor position, device attributes, colours). The user's input and the replies both arrive
// through `onData`. The queries in replayed output have already been answered; a second reply would show up as typed
// text at the prompt. Replies therefore pass only while the gate is open, whereas the user's input always passes.
//
// xterm.js distinguishes the two by firing the internal `onUserInput` right before each `onData` from the user. If a
// later version lacks `onUserInput`, everything counts as a reply, so a key pressed during a replay is lost.
// `emulator-input.test.ts` detects that.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";

export type EmulatorOutput = Pick<Terminal, "onData" | "onBinary">;

interface WithCore {
  _core?: { coreService?: { onUserInput?: (listener: () => void) => Disposable } };
}

export interface EmulatorInputOptions {
  /** `byUser` is true if the user typed the text; otherwise, the text is a reply from the emulator. */
  send(bytes: Uint8Array, byUser: boolean): void;
  /** Modifies the user's text before it is sent, for example to apply a touch keyboard's sticky Ctrl key. */
  translate?: (text: string) => string;
}

export class EmulatorInput implements Disposable {
  readonly #send: EmulatorInputOptions["send"];
  readonly #translate: (text: string) => string;
  readonly #disposables = new DisposableList();
  readonly #encoder = new TextEncoder();
  #gateOpen = false;
  #byUser = false;
  #verbatim = false;

  constructor(terminal: EmulatorOutput, options: EmulatorInputOptions) {
    this.#send = options.send;
    this.#translate = options.translate ?? (text => text);
    const onUserInput = (terminal as WithCore)._core?.coreService?.onUserInput;
    if (onUserInput) {
      this.#disposables.add(
        onUserInput(() => {
          this.#byUser = true;
        }),
      );
    }
    this.#disposables.add(
      terminal.onData(text => this.#data(text)),
      // Only mouse reports arrive here, as a string with one byte per character.
      terminal.onBinary(text =>
        this.#send(
          Uint8Array.from(text, char => char.charCodeAt(0) & 0xff),
          true,
        ),
      ),
    );
  }

  /** Runs `input`, and sends the text it enters unchanged: pasted text isn't subject to a sticky Ctrl key. */
  verbatim(input: () => void): void {
    this.#verbatim = true;
    try {
      input();
    } finally {
      this.#verbatim = false;
    }
  }

  setGate(open: boolean): void {
    this.#gateOpen = open;
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #data(text: string): void {
    const byUser = this.#byUser;
    this.#byUser = false;
    if (!text || !(byUser || this.#gateOpen)) return;
    this.#send(this.#encoder.encode(byUser && !this.#verbatim ? this.#translate(text) : text), byUser);
  }
}
