// xterm.js parses what it is given later, but resizes and resets at once. A resize belongs at one exact byte of the
// stream, so it waits here until xterm has parsed everything before it, and what follows waits behind it.

import type { Emulator, TerminalSink } from "./sink";

/** CAN ends whatever sequence has begun (ECMA-48, and the state diagram of DEC's terminals). */
const ABANDON = Uint8Array.of(0x18);

type Operation = { bytes: Uint8Array; parsed: () => void } | { run: () => void };

export class OrderedWriter implements TerminalSink {
  readonly #emulator: Emulator;
  readonly #gate: (open: boolean) => void;
  #queue: Operation[] = [];
  /** Writes that xterm has and has not yet parsed. */
  #unparsed = 0;
  #pumping = false;

  constructor(emulator: Emulator, gate: (open: boolean) => void) {
    this.#emulator = emulator;
    this.#gate = gate;
  }

  write(bytes: Uint8Array, parsed: () => void): void {
    this.#push({ bytes, parsed });
  }

  resize(cols: number, rows: number): void {
    this.#push({ run: () => this.#resize(cols, rows) });
  }

  reset(cols: number, rows: number): void {
    // xterm's reset leaves its parser where it is, perhaps within a sequence that would swallow what comes next.
    this.#push({ bytes: ABANDON, parsed: () => {} });
    this.#push({
      run: () => {
        this.#emulator.reset();
        this.#resize(cols, rows);
      },
    });
  }

  gate(open: boolean): void {
    this.#push({ run: () => this.#gate(open) });
  }

  dispose(): void {
    this.#queue = [];
  }

  #resize(cols: number, rows: number): void {
    if (this.#emulator.cols !== cols || this.#emulator.rows !== rows) this.#emulator.resize(cols, rows);
  }

  #push(operation: Operation): void {
    this.#queue.push(operation);
    this.#pump();
  }

  #pump(): void {
    // xterm may parse inside write() (the first one after a key), and its callback comes back here.
    if (this.#pumping) return;
    this.#pumping = true;
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      if ("run" in next) {
        if (this.#unparsed > 0) break;
        this.#queue.shift();
        next.run();
      } else {
        this.#queue.shift();
        this.#write(next.bytes, next.parsed);
      }
    }
    this.#pumping = false;
  }

  #write(bytes: Uint8Array, parsed: () => void): void {
    this.#unparsed++;
    this.#emulator.write(bytes, () => {
      this.#unparsed--;
      parsed();
      this.#pump();
    });
  }
}
