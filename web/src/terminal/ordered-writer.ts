// Keeps writes, resizes and resets in order. xterm.js parses writes asynchronously, but resizes and resets immediately.
// A resize applies at an exact byte in the stream, so it waits until all earlier bytes have been parsed, and later
// writes wait for it.

import type { Emulator, TerminalSink } from "./sink";

/** CAN aborts any unfinished control sequence (ECMA-48, and the state diagram for DEC terminals). */
const ABANDON = Uint8Array.of(0x18);
/**
 * Leaves the alternate screen and resets all modes, the colours and the cursor, but not the scrollback (xterm's
 * ctlseqs).
 */
const RESET_MODES =
  "\x1b[?1049l\x1b[!p\x1b[20l\x1b[?9;1000;1002;1003;1006;1016;2026l\x1b[0 q\x1b]104\x07\x1b]110\x07\x1b]111\x07\x1b]112\x07";
/** Erases the screen and moves the cursor to its first cell. */
const ERASE_SCREEN = "\x1b[2J\x1b[H";

/**
 * Maximum number of bytes per write to xterm.js, which parses for 12 ms or until the end of a write. Larger writes
 * delay keys, even in other terminals.
 */
const PIECE = 16_384;

type Operation = { bytes: Uint8Array; parsed: () => void } | { run: () => void };

export class OrderedWriter implements TerminalSink {
  readonly #emulator: Emulator;
  readonly #gate: (open: boolean) => void;
  #queue: Operation[] = [];
  /** Number of writes that xterm.js hasn't parsed yet. */
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
    // Resetting xterm.js doesn't reset its parser, and an unfinished sequence would swallow the next bytes.
    this.#push({ bytes: ABANDON, parsed: () => {} });
    this.#push({
      run: () => {
        this.#emulator.reset();
        this.#resize(cols, rows);
      },
    });
  }

  startNewScreen(cols: number, rows: number): void {
    const { options } = this.#emulator;
    let before = false;
    this.#push({ bytes: ABANDON, parsed: () => {} });
    this.#push({
      run: () => {
        before = options.scrollOnEraseInDisplay ?? false;
        options.scrollOnEraseInDisplay = true;
      },
    });
    this.#push({ bytes: new TextEncoder().encode(RESET_MODES + ERASE_SCREEN), parsed: () => {} });
    this.#push({
      run: () => {
        options.scrollOnEraseInDisplay = before;
        this.#resize(cols, rows);
      },
    });
  }

  gate(open: boolean): void {
    this.#push({ run: () => this.#gate(open) });
  }

  /** Calls `run` once all earlier bytes have been parsed. */
  afterwards(run: () => void): void {
    this.#push({ run });
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
    // xterm.js may parse inside write() (for the first write after a key); its callback then re-enters this method.
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
    let at = 0;
    for (; bytes.length - at > PIECE; at += PIECE) this.#emulator.write(bytes.subarray(at, at + PIECE));
    this.#emulator.write(at === 0 ? bytes : bytes.subarray(at), () => {
      this.#unparsed--;
      parsed();
      this.#pump();
    });
  }
}
