// Where a terminal's stream goes. Types only: the stream knows no emulator, the emulator no wire.

/** Calls take effect in the order in which they are made, each when everything before it has been parsed. */
export interface TerminalSink {
  write(bytes: Uint8Array, parsed: () => void): void;
  resize(cols: number, rows: number): void;
  /** Forgets screen, scrollback and modes. */
  reset(cols: number, rows: number): void;
  /**
   * May what the emulator answers to queries be sent? Closed while bytes are replayed, and while another viewer is the
   * one that answers.
   */
  gate(open: boolean): void;
}

/** The part of xterm.js (or of another emulator) that a sink needs. */
export interface Emulator {
  readonly cols: number;
  readonly rows: number;
  write(data: Uint8Array, callback?: () => void): void;
  resize(cols: number, rows: number): void;
  reset(): void;
}
