// The interface between a terminal's stream and an emulator. It contains only types, so the stream does not depend on
// the emulator, and the emulator does not depend on the protocol.

/** Calls take effect in order, each after all earlier bytes have been parsed. */
export interface TerminalSink {
  write(bytes: Uint8Array, parsed: () => void): void;
  resize(cols: number, rows: number): void;
  /** Clears the screen, the scrollback and all modes. */
  reset(cols: number, rows: number): void;
  /** Clears the screen and all modes like `reset`, but keeps the scrollback and moves the screen's content into it. */
  startNewScreen(cols: number, rows: number): void;
  /**
   * Sets whether the emulator's replies to queries are sent. They are not sent during a replay and while another viewer
   * answers queries.
   */
  gate(open: boolean): void;
}

/** The part of xterm.js (or another emulator) that a sink needs. */
export interface Emulator {
  readonly cols: number;
  readonly rows: number;
  readonly options: { scrollOnEraseInDisplay?: boolean };
  write(data: Uint8Array, callback?: () => void): void;
  resize(cols: number, rows: number): void;
  reset(): void;
}
