// What comes out of xterm.js: the user's keys, pastes and mouse, and the emulator's own answers to queries in the output
// (cursor position, device attributes, colours). Both leave through `onData`, but while old output is replayed the
// answers have been given long ago: sent again, they would be typed at the prompt as junk. So answers pass only while
// the gate is open; what the user does always passes.
//
// xterm.js knows which is which: it fires the internal `onUserInput` right before an `onData` that is the user's.
// Should a later version not have it, everything counts as an answer: then a key pressed during a replay is lost,
// which is the lesser evil. `emulator-input.test.ts` would tell.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";

export type EmulatorOutput = Pick<Terminal, "onData" | "onBinary">;

interface WithCore {
  _core?: { coreService?: { onUserInput?: (listener: () => void) => Disposable } };
}

export interface EmulatorInputOptions {
  /** `byUser`: not an answer of the emulator. */
  send(bytes: Uint8Array, byUser: boolean): void;
  /** What the user's text becomes before it is sent: a touch keyboard's sticky Ctrl, say. */
  translate?: (text: string) => string;
}

export class EmulatorInput implements Disposable {
  readonly #send: EmulatorInputOptions["send"];
  readonly #translate: (text: string) => string;
  readonly #disposables = new DisposableList();
  readonly #encoder = new TextEncoder();
  #gateOpen = false;
  #byUser = false;

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
      // Only reports of the mouse come this way, as bytes in a string.
      terminal.onBinary(text =>
        this.#send(
          Uint8Array.from(text, char => char.charCodeAt(0) & 0xff),
          true,
        ),
      ),
    );
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
    this.#send(this.#encoder.encode(byUser ? this.#translate(text) : text), byUser);
  }
}
