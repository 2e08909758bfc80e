// The interface between a terminal's stream and an emulator. Types only: the stream does not know the emulator,
// the emulator does not know the protocol.

/** Calls take effect in order, each after everything before it has been parsed. */
export interface TerminalSink {
  write(bytes: Uint8Array, parsed: () => void): void;
  resize(cols: number, rows: number): void;
  /** Clears screen, scrollback and modes. */
  reset(cols: number, rows: number): void;
  /** Clears screen and modes like `reset`, but moves what the screen shows into the scrollback, which stays. */
  startNewScreen(cols: number, rows: number): void;
  /**
   * Whether the emulator's replies to queries are sent. Closed while bytes are replayed, and while another viewer
   * answers.
   */
  gate(open: boolean): void;
}

/** The part of xterm.js (or of another emulator) that a sink needs. */
export interface Emulator {
  readonly cols: number;
  readonly rows: number;
  readonly options: { scrollOnEraseInDisplay?: boolean };
  write(data: Uint8Array, callback?: () => void): void;
  resize(cols: number, rows: number): void;
  reset(): void;
}
