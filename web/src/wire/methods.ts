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

/** Somebody at a terminal. */
export interface Viewer {
  id: string;
  name: string;
  /** `#rrggbb`; carries dark letters. */
  color: string;
  kind: "person" | "agent";
  read_only: boolean;
  typing: boolean;
  focus: boolean;
  /** Where its pointer is, in cells of the screen from 0. */
  at: { x: number; y: number } | null;
}

/** Who may type: everybody, or the viewer with the id `holder`. */
export interface Lease {
  mode: "free" | "exclusive";
  holder: string | null;
  /** Grows with each change. */
  epoch: number;
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
  read_only?: boolean;
  /** `key`: names the viewer across its reconnects and in calls; a secret. */
  viewer?: { key?: string; name?: string; color?: string; kind?: Viewer["kind"]; focus?: boolean };
  /** What would fit here. */
  cols?: number;
  rows?: number;
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
  /** Our own id among those present; an older server says none of this. */
  viewer?: string;
  presence?: Viewer[];
  lease?: Lease;
  read_only?: boolean;
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

export interface RecordingInfo {
  id: string;
  terminal: string;
  title?: string | null;
  /** It holds what was typed as well. */
  input: boolean;
  /** Seconds since 1970. */
  started: number;
  state: "recording" | "finished";
  /** Why it ended. */
  reason?: "stopped" | "exited" | "quota" | "no_space" | "io_error" | "killed" | null;
  /** Seconds. */
  duration: number;
  /** Bytes of the cast. */
  size: number;
  /** It holds less than happened. */
  truncated: boolean;
}

/** `event recordings` of `recording.watch`: those that go on. */
export interface Recordings {
  recordings: RecordingInfo[];
}

/** A port that a program listens on. */
export interface OpenPort {
  port: number;
  addresses: string[];
  pid: number;
  /** The program's name. */
  process: string;
  /** It has a preview. */
  exposed: boolean;
}

/** `event ports` of `port.watch`: all that are open. */
export interface OpenPorts {
  ports: OpenPort[];
}

/** Of `port.expose`. Whoever knows `token` gets there. */
export interface ExposedPort {
  port: number;
  token: string;
  name?: string | null;
}

/** Of `preview.host`. */
export interface PreviewName {
  host?: string | null;
}
