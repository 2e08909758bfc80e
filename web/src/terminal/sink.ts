// The interface between a terminal's stream and an emulator. It contains only types, so the stream doesn't depend on
// the emulator, nor the emulator on the protocol.

/** Calls take effect in order, each once all earlier bytes have been parsed. */
export interface TerminalSink {
  write(bytes: Uint8Array, parsed: () => void): void;
  resize(cols: number, rows: number): void;
  /** Clears the screen and the scrollback, and resets all modes. */
  reset(cols: number, rows: number): void;
  /**
   * Clears the screen and resets all modes like `reset`, but keeps the scrollback and moves the screen's contents into
   * it.
   */
  startNewScreen(cols: number, rows: number): void;
  /**
   * Sets whether the emulator's replies to queries are sent. They aren't sent during a replay or while another viewer
   * answers queries.
   */
  gate(open: boolean): void;
}

/** The parts of xterm.js (or another emulator) that a sink needs. */
export interface Emulator {
  readonly cols: number;
  readonly rows: number;
  readonly options: { scrollOnEraseInDisplay?: boolean };
  write(data: Uint8Array, callback?: () => void): void;
  resize(cols: number, rows: number): void;
  reset(): void;
}
