// Section 9 of docs/wire.md, as far as the browser uses it. Types only.

export interface Exit {
  /** Null or absent if a signal ended it. */
  code?: number | null;
  /** By name, such as "SIGKILL". */
  signal?: string | null;
}

export interface TerminalInfo {
  id: string;
  /** New each time a terminal of this id is started. */
  instance: string;
  pid: number;
  cols: number;
  rows: number;
  argv: string[];
  cwd: string;
  state: "running" | "exited";
  exit?: Exit | null;
  /** Where the journal begins and ends. */
  start: number;
  offset: number;
  viewers: number;
  /** Seconds since 1970. */
  started: number;
  /** In the answer to `terminal.create`: this call has started it. */
  created?: boolean;
}

export interface CreateTerminal {
  id?: string;
  argv?: string[];
  cwd?: string;
  env?: Record<string, string | null>;
  cols?: number;
  rows?: number;
}

export interface AttachTerminal {
  id: string;
  instance?: string;
  since?: number;
  input?: string;
  /** Asks never to be outrun: the program waits for this viewer. */
  lossless?: boolean;
  /** This viewer answers the queries of programs, if it is chosen to. */
  emulator?: boolean;
}

/** `event opened` of `terminal.attach`. */
export interface Opened extends TerminalInfo {
  start_at: "start" | "resume" | "snapshot";
  /** Offset of the first output byte that will come. */
  from: number;
  /** Length of the snapshot; 0 if there is none. */
  screen: number;
  input_offset: number;
  /** This viewer is the one that answers queries. */
  answers?: boolean;
}

export interface Resized {
  cols: number;
  rows: number;
  offset: number;
}

export interface Reseed {
  from: number;
  screen: number;
  cols: number;
  rows: number;
}

export interface AttachResult {
  exit: Exit;
  offset: number;
}
