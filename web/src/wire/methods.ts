// Generated from hawse/api by `make generate`; do not edit. Types only.

/**
 * A command that the shell has told of. None: not known, or (end, ended, after, code) not yet.
 *
 * `start`, `end`: the offsets of its output; times in seconds since 1970; `line` is cut after 4,096 characters.
 */
export interface CommandInfo {
  number: number;
  line?: string | null;
  cwd?: string | null;
  started: number;
  start: number;
  code?: number | null;
  end?: number | null;
  ended?: number | null;
  after?: number | null;
}

/**
 * How long after input came output. `counts` has one more class than `ECHO_BOUNDS`: what took longer than all.
 *
 * `seconds` is the sum of all times.
 */
export interface EchoHistogram {
  counts: number[];
  seconds: number;
}

/** Runs one command to its end. Of each stream at most `max_output` bytes are sent; it may print more. */
export interface Exec {
  argv?: string[] | null;
  command?: string | null;
  cwd?: string | null;
  env?: Record<string, string | null> | null;
  stdin?: boolean | null;
  timeout?: number | null;
  max_output?: number | null;
  since?: Since | null;
  input?: string | null;
}

/** The end of a command and of its output, by its final offsets. `truncated`: more than `max_output` was printed. */
export interface ExecResult {
  code?: number | null;
  signal?: string | null;
  timed_out?: boolean;
  oom?: boolean | null;
  stdout: number;
  stderr: number;
  truncated?: boolean;
}

/**
 * How a program ended: by itself with `code`, or by `signal` (a name such as SIGKILL).
 *
 * `oom`: whether the kernel killed it for want of memory; null where that is not known.
 */
export interface Exit {
  code?: number | null;
  signal?: string | null;
  timed_out?: boolean;
  oom?: boolean | null;
}

/** A preview. `token` is all that one needs to know; it holds until it is taken back or the runtime ends. */
export interface ExposedPort {
  port: number;
  token: string;
  name?: string | null;
}

/** Stream a directory, or a file, as an archive. Symlinks stay symlinks. */
export interface FileArchive {
  path: string;
  root?: string | null;
  format?: "tar" | "tar.gz" | "zip";
  include?: string[] | null;
  exclude?: string[] | null;
}

/** A name for it. */
export interface FileArchiveOpened {
  name: string;
}

/** `failed`: what could not be read, and is not whole in it; `skipped`: sockets and devices. */
export interface FileArchiveResult {
  bytes: number;
  files: number;
  failed: number;
  skipped: number;
}

/** Set permission bits. */
export interface FileChmod {
  path: string;
  root?: string | null;
  mode: number;
}

/**
 * Copy a file, a symlink, or with `recursive` a directory: modes and times are kept, symlinks stay symlinks.
 *
 * It appears at `to` when it is whole. `overwrite` replaces a file, never a directory.
 */
export interface FileCopy {
  path: string;
  root?: string | null;
  to: string;
  recursive?: boolean;
  overwrite?: boolean;
}

/** `skipped`: sockets and devices. */
export interface FileCopyResult {
  files: number;
  bytes: number;
  skipped: number;
}

/** Delete a file, a symlink, or with `recursive` a directory and all that is in it. Symlinks are not followed. */
export interface FileDelete {
  path: string;
  root?: string | null;
  recursive?: boolean;
}

/** How many files and directories. */
export interface FileDeleteResult {
  deleted: number;
}

/** Paths are relative to what is listed. */
export interface FileEntries {
  entries: FileEntry[];
}

/** What is at `path`: `mtime` in seconds since 1970, `target` of a symlink that was not followed. */
export interface FileEntry {
  path: string;
  type: "device" | "directory" | "fifo" | "file" | "socket" | "symlink";
  size: number;
  mode: number;
  mtime: number;
  uid?: number;
  gid?: number;
  target?: string | null;
}

/** Say whether there is something, and what. A symlink to nothing is nothing, unless `follow` is false. */
export interface FileExists {
  path: string;
  root?: string | null;
  follow?: boolean;
}

/** Whether there is something, and of which type. */
export interface FileExistsResult {
  exists: boolean;
  type?: "device" | "directory" | "fifo" | "file" | "socket" | "symlink" | null;
}

/** What is at `path` could not be looked at. */
export interface FileFailure {
  path: string;
  code: string;
  message: string;
}

/**
 * List a directory, in batches, in the order of the disk.
 *
 * `recursive` goes down, at most `depth` levels; symlinks are told and not followed.
 */
export interface FileList {
  path: string;
  root?: string | null;
  recursive?: boolean;
  depth?: number | null;
  hidden?: boolean;
  include?: string[] | null;
  exclude?: string[] | null;
}

/** How many entries were told, and how many could not be. */
export interface FileListResult {
  entries: number;
  failed: number;
}

/** Make a directory. With `parents` also those above, and one that is there is fine. */
export interface FileMkdir {
  path: string;
  root?: string | null;
  parents?: boolean;
  mode?: number | null;
}

/** Whether it was made by this call. */
export interface FileMkdirResult {
  created: boolean;
}

/** Rename, or across file systems copy and delete. */
export interface FileMove {
  path: string;
  root?: string | null;
  to: string;
  overwrite?: boolean;
}

/** `size` in bytes: 0 as well for what does not know its size, as in /proc. `version` names the content. */
export interface FileOpened {
  size: number;
  version: string;
  mode: number;
  mtime: number;
}

/**
 * Stream a file's bytes, or a part of them.
 *
 * With a `version`, only of that one. A file that is changed while it is read is `conflict`.
 */
export interface FileRead {
  path: string;
  root?: string | null;
  offset?: number | null;
  length?: number | null;
  version?: string | null;
}

/** Rename within a file system, atomically. What is at `to` is `conflict` unless `overwrite`. */
export interface FileRename {
  path: string;
  root?: string | null;
  to: string;
  overwrite?: boolean;
}

/**
 * Find files by name, or with `pattern` the lines in them that match.
 *
 * `pattern` is in RE2's syntax, unless `literal`. At most `limit` matches; binary files are passed over.
 */
export interface FileSearch {
  path: string;
  root?: string | null;
  pattern?: string | null;
  literal?: boolean;
  ignore_case?: boolean;
  hidden?: boolean;
  include?: string[] | null;
  exclude?: string[] | null;
  limit?: number;
}

/** `truncated`: there are more than the limit. `failed`: what could not be looked at. */
export interface FileSearchResult {
  matches: number;
  truncated: boolean;
  failed: number;
}

/** Describe a file, or with `follow: false` the symlink itself. */
export interface FileStat {
  path: string;
  root?: string | null;
  follow?: boolean;
}

/** A file; `version` names its content. */
export interface FileStatResult {
  path: string;
  type: "device" | "directory" | "fifo" | "file" | "socket" | "symlink";
  size: number;
  mode: number;
  mtime: number;
  uid?: number;
  gid?: number;
  target?: string | null;
  version?: string | null;
}

/** How many bytes were read or written. */
export interface FileTransferResult {
  bytes: number;
  version: string;
}

/**
 * Replace a file, atomically, with the bytes that are sent.
 *
 * It keeps its mode unless one is given, and its owner where that is allowed. Directories that are missing are made unless `parents` is false.
 */
export interface FileWrite {
  path: string;
  root?: string | null;
  input: string;
  mode?: number | null;
  parents?: boolean | null;
}

/** How much of the input has been applied. */
export interface FileWriteOpened {
  input_offset?: number;
}

/** Stage files: those of `paths`, or with `all` everything that differs, deletions included. */
export interface GitAdd {
  path?: string;
  paths?: string[] | null;
  all?: boolean;
}

/** Who a commit is by. */
export interface GitAuthor {
  name: string;
  email: string;
}

/** List the branches, after one was created (at `start`) or deleted, if that is asked. */
export interface GitBranch {
  path?: string;
  create?: string | null;
  delete?: string | null;
  start?: string | null;
  force?: boolean;
}

/** A branch, and the commit it is at. */
export interface GitBranchInfo {
  name: string;
  commit: string;
  upstream?: string | null;
  current?: boolean;
  remote?: boolean;
}

/** `current` is null if no branch is checked out. */
export interface GitBranchResult {
  current: string | null;
  branches: GitBranchInfo[];
  truncated?: boolean;
}

/** End the clone that was called with this key. One that has ended, or never was, is no error. */
export interface GitCancel {
  key: string;
}

/** Switch to a branch or commit; with `create` to a new branch (at `start`); with `paths` only bring those back. */
export interface GitCheckout {
  path?: string;
  ref?: string | null;
  create?: boolean;
  start?: string | null;
  paths?: string[] | null;
}

/**
 * Clone a repository into a directory that is there as a whole, or not at all.
 *
 * `path`: by default the last part of the URL, in the workspace. `filter`: such as `blob:none`.
 */
export interface GitClone {
  url: string;
  path?: string | null;
  depth?: number | null;
  branch?: string | null;
  filter?: string | null;
  credentials?: GitCredentials | null;
  timeout?: number;
}

/** Commit what is staged; with `all` what differs in tracked files too. */
export interface GitCommit {
  path?: string;
  message: string;
  author?: GitAuthor | null;
  all?: boolean;
  allow_empty?: boolean;
}

/** Times in seconds since 1970. */
export interface GitCommitInfo {
  commit: string;
  parents: string[];
  author: string;
  email: string;
  time: number;
  committer: string;
  committer_email: string;
  committed: number;
  message: string;
}

/** For http and https. A token is a password; the name that goes with it depends on the host. */
export interface GitCredentials {
  username?: string;
  password: string;
}

/**
 * Show differences as a patch.
 *
 * Of the working tree from the index; with `staged` of the index from the last commit; with `base` of the working tree (or of `target`) from that. `limit`: bytes.
 */
export interface GitDiff {
  path?: string;
  staged?: boolean;
  base?: string | null;
  target?: string | null;
  paths?: string[] | null;
  limit?: number;
}

/** `truncated`: it is longer. What is no UTF-8 in it is U+FFFD. */
export interface GitDiffResult {
  text: string;
  truncated: boolean;
}

/** Where a repository is: `commit` is null before the first one, `branch` is null if none is checked out. */
export interface GitHead {
  path: string;
  commit: string | null;
  branch: string | null;
}

/** List commits, the latest first. */
export interface GitLog {
  path?: string;
  ref?: string | null;
  limit?: number;
  skip?: number;
  paths?: string[] | null;
}

/** `truncated`: fewer than were asked for, since they are large. */
export interface GitLogResult {
  commits: GitCommitInfo[];
  truncated?: boolean;
}

/** `phase` as Git names it, such as `Receiving objects`; `received` in bytes, where that is known. */
export interface GitProgress {
  phase: string;
  percent: number;
  done: number;
  total: number;
  received?: number | null;
}

/** Fetch from a remote and merge, or rebase, or with `ff_only` refuse both. */
export interface GitPull {
  path?: string;
  remote?: string | null;
  branch?: string | null;
  rebase?: boolean;
  ff_only?: boolean;
  credentials?: GitCredentials | null;
  timeout?: number;
}

/** Push a branch (by default the current one). `force` overwrites only what was known to be there. */
export interface GitPush {
  path?: string;
  remote?: string;
  branch?: string | null;
  force?: boolean;
  set_upstream?: boolean;
  credentials?: GitCredentials | null;
  timeout?: number;
}

/** What became of each ref. */
export interface GitPushResult {
  refs: GitPushedRef[];
}

/** `status` as git has it: ` ` pushed, `+` forced, `*` new, `-` deleted, `=` as it was, `!` refused. */
export interface GitPushedRef {
  status: " " | "!" | "*" | "+" | "-" | "=";
  ref: string;
  summary: string;
}

/** Say what differs from the last commit, and where the branch is. */
export interface GitStatus {
  path?: string;
  ignored?: boolean;
}

/** `index` and `worktree`: `.` unchanged, or Git's letters `M`, `T`, `A`, `D`, `R`, `C`, `U`, `?`, `!`. */
export interface GitStatusEntry {
  path: string;
  index: string;
  worktree: string;
  origin?: string | null;
}

/** `ahead`, `behind`: commits, null without an upstream that is known. `truncated`: there are more entries. */
export interface GitStatusResult {
  branch?: string | null;
  commit?: string | null;
  upstream?: string | null;
  ahead?: number | null;
  behind?: number | null;
  entries?: GitStatusEntry[];
  truncated?: boolean;
}

/** What of a stream can be read: the bytes from `start` to `offset`. */
export interface KeptRange {
  start?: number;
  offset?: number;
}

/** What to look for: `text` as it is, or `pattern` in RE2's syntax; in what was printed from `since` on as well. */
export interface LogCondition {
  text?: string | null;
  pattern?: string | null;
  stream?: "stderr" | "stdout" | null;
  since?: Since | null;
}

/** `start` and `end` are offsets in `stream`. `truncated`: text or a group was cut after 4,096 bytes. */
export interface LogMatch {
  stream: "stderr" | "stdout";
  start: number;
  end: number;
  text: string;
  groups?: (string | null)[];
  named?: Record<string, string | null>;
  truncated?: boolean;
}

/** An empty result: the call succeeded. */
export type Nothing = Record<string, never>;

/** A port that a program listens on. `process`: the program's name; `exposed`: it has a preview. */
export interface OpenPort {
  port: number;
  addresses: string[];
  pid: number;
  process: string;
  exposed?: boolean;
}

/** `start` and `end`: offsets in the output. `truncated`: text or a group was cut after 4,096 bytes. */
export interface OutputMatch {
  start: number;
  end: number;
  text: string;
  groups: (string | null)[];
  named: Record<string, string | null>;
  truncated: boolean;
}

/** Somebody at a terminal; `id` is public. `typing` ends 2 s after the last key, `at` is where its pointer is. */
export interface Participant {
  id: string;
  name: string;
  color: string;
  kind: "agent" | "person";
  read_only: boolean;
  typing: boolean;
  focus: boolean;
  at?: PointerPosition | null;
}

/** A viewer as it is now. */
export interface ParticipantEvent {
  viewer: Participant;
}

/** A viewer has left. */
export interface ParticipantLeft {
  id: string;
}

/** A place on the screen in cells, from 0. */
export interface PointerPosition {
  x: number;
  y: number;
}

/** A port of this machine. With `path` it has to answer HTTP, with a status from `status[0]` to `status[1]`. */
export interface PortCondition {
  port: number;
  path?: string | null;
  status?: [number, number];
}

/** A TCP connection to a port: bytes both ways, each end closed on its own. Either `port` or a preview's `token`. */
export interface PortConnect {
  port?: number | null;
  token?: string | null;
}

/** The other side sends no more; it may still read. `offset`: how many bytes it sent. */
export interface PortConnectEnd {
  offset: number;
}

/** The connection is made. `address`: with whom. */
export interface PortConnectOpened {
  port: number;
  address: string;
}

/** Both ends are closed: so many bytes came from the port, and so many went there. */
export interface PortConnectResult {
  received: number;
  sent: number;
}

/** Makes a preview of a port: whoever has its token gets there. Again, it gives the same token. */
export interface PortExpose {
  port: number;
  name?: string | null;
}

/** The previews there are. */
export type PortExposed = Record<string, never>;

/** All previews. */
export interface PortExposedResult {
  exposed: ExposedPort[];
}

/** The TCP ports that programs of the sandbox listen on. */
export type PortList = Record<string, never>;

/** The ports that programs listen on. */
export interface PortListResult {
  ports: OpenPort[];
}

/** Takes a preview back, and cuts who is in it. Of a port that has none it does nothing. */
export interface PortUnexpose {
  port: number;
}

/** Tells which ports are open, now and after every change, until it is cancelled. */
export type PortWatch = Record<string, never>;

/** The name below which previews have names of their own. */
export type PreviewHost = Record<string, never>;

/** Null if previews are reached by path only. */
export interface PreviewHostResult {
  host?: string | null;
}

/** Follows the output of a process to its end, and takes its input. */
export interface ProcessAttach {
  id: string;
  instance?: string | null;
  since?: Since | null;
  input?: string | null;
  lossless?: boolean | null;
}

/** The end of a process and of its output, by its final offsets. */
export interface ProcessAttachResult {
  exit: Exit;
  stdout: number;
  stderr: number;
}

/** Describes one process. */
export interface ProcessGet {
  id: string;
}

/** A process. `instance` is new each time one of that `id` is started; `started` in seconds since 1970. */
export interface ProcessInfo {
  id: string;
  instance: string;
  pid: number;
  argv?: string[];
  cwd?: string;
  started?: number;
  state?: "exited" | "running";
  exit?: Exit | null;
  stdout?: KeptRange;
  stderr?: KeptRange;
}

/** Ends a process with its whole tree: `signal` (TERM), then KILL after `grace` seconds (5). */
export interface ProcessKill {
  id: string;
  instance?: string | null;
  signal?: string | number | null;
  grace?: number | null;
}

/** How it ended. */
export interface ProcessKillResult {
  exit: Exit;
}

/**
 * Describes the processes that run and those whose record is kept, in the order of their start.
 *
 * At most `limit` (1,000), of those that come after the one with the id `after`.
 */
export interface ProcessList {
  after?: string | null;
  limit?: number | null;
}

/** `argv` is cut after 256 characters here. `more`: there are further ones. */
export interface ProcessListResult {
  processes: ProcessInfo[];
  more?: boolean;
}

/** `from`: where the output begins that will come. `input_offset`: how much of this input was applied. */
export interface ProcessOpened {
  id: string;
  instance: string;
  pid: number;
  argv?: string[];
  cwd?: string;
  started?: number;
  state?: "exited" | "running";
  exit?: Exit | null;
  stdout?: KeptRange;
  stderr?: KeptRange;
  from?: StreamOffsets;
  input_offset?: number;
}

/** Sends a signal to the process group of a process. */
export interface ProcessSignal {
  id: string;
  instance?: string | null;
  signal: string | number;
}

/** Starts a process, which goes on whatever becomes of who started it. */
export interface ProcessStart {
  argv?: string[] | null;
  command?: string | null;
  cwd?: string | null;
  env?: Record<string, string | null> | null;
  stdin?: boolean | null;
  timeout?: number | null;
  id?: string | null;
}

/** Waits for whichever comes first: the end of a process, a line of its output, an open port, `timeout` seconds. */
export interface ProcessWait {
  id: string;
  instance?: string | null;
  exit?: boolean | null;
  log?: LogCondition | null;
  port?: PortCondition | null;
  timeout?: number | null;
}

/** Where the search began in each stream: above `since` where that is no longer kept. */
export interface ProcessWaitOpened {
  from: StreamOffsets;
}

/** What a wait came to. `status`: of the HTTP answer, if one was asked for. */
export interface ProcessWaitResult {
  event: "exit" | "log" | "port" | "timeout";
  exit?: Exit | null;
  match?: LogMatch | null;
  status?: number | null;
}

/** How a terminal is recorded from its start. `input`: what is typed as well, passwords included. */
export interface RecordOptions {
  input?: boolean;
}

/** Delete a recording with its files; one that goes on is ended. */
export interface RecordingDelete {
  id: string;
}

/** One recording, as far as it has come. */
export interface RecordingGet {
  id: string;
}

/**
 * A recording: an asciicast v3 file of `size` bytes and `duration` seconds.
 *
 * `reason` and `message`: why it has ended. `truncated`: it holds less than happened; `lost`: bytes of output that a disk that stood still has cost. `screens` and `index`: bytes of its other parts.
 */
export interface RecordingInfo {
  id: string;
  terminal: string;
  instance: string;
  title?: string | null;
  input: boolean;
  cols: number;
  rows: number;
  started: number;
  state: "finished" | "recording";
  reason?: "exited" | "io_error" | "killed" | "no_space" | "quota" | "stopped" | null;
  message: string;
  duration: number;
  size: number;
  screens: number;
  index: number;
  markers: number;
  lost: number;
  truncated: boolean;
}

/** All recordings, or those of one terminal, the newest first. */
export interface RecordingList {
  terminal?: string | null;
}

/** Several of them. */
export interface RecordingListResult {
  recordings: RecordingInfo[];
}

/** Set a marker at this moment of a recording. */
export interface RecordingMark {
  id: string;
  label?: string;
}

/**
 * The bytes of a recording that are complete by now.
 *
 * `part`: the cast itself (whole lines of asciicast v3), the screens to begin at, or the index of both.
 */
export interface RecordingRead {
  id: string;
  part?: "cast" | "index" | "screens";
  offset?: number | null;
  length?: number | null;
}

/**
 * Record a terminal from now on, beginning with what its screen shows.
 *
 * `input: true` keeps what is typed as well, passwords included.
 */
export interface RecordingStart {
  terminal: string;
  id?: string | null;
  input?: boolean;
  title?: string | null;
}

/** End a recording; answers when all of it is on the disk. Again, it does nothing. */
export interface RecordingStop {
  id: string;
}

/** The recordings that go on, now and after every change, until it is cancelled. */
export interface RecordingWatch {
  terminal?: string | null;
}

/** What the runtime is, and what it holds. */
export type RuntimeInfo = Record<string, never>;

/** `runtime` is the id of this incarnation, `started` in seconds since 1970, `memory` its resident bytes. */
export interface RuntimeInfoResult {
  runtime: string;
  pid: number;
  version: string;
  started: number;
  terminals: number;
  processes: number;
  sessions: number;
  open_fds: number;
  tasks: number;
  memory: number;
}

/** What the runtime counts, for a gateway's `/metrics`. */
export type RuntimeMetrics = Record<string, never>;

/**
 * What is now, and what was counted since `started` (seconds since 1970).
 *
 * Now: `memory` (resident bytes), `open_fds`, what runs (`terminals`, `processes`, `sessions`), `viewers` of terminals, `lag` (bytes they have yet to be sent, all together) and `lag_max` (of the one that is furthest behind), `journals` and `snapshots` (bytes of memory), `recordings` that go on. Counted: `cpu` (seconds), `output` (bytes that programs wrote to terminals), `reseeds` (of viewers), `echo`.
 */
export interface RuntimeMetricsResult {
  started: number;
  cpu: number;
  memory: number;
  open_fds: number;
  terminals: number;
  processes: number;
  sessions: number;
  viewers: number;
  lag: number;
  lag_max: number;
  journals: number;
  snapshots: number;
  recordings: number;
  output: number;
  reseeds: number;
  echo: EchoHistogram;
}

/** A sandbox, and what stands between it and the machine, if it runs. */
export interface SandboxInfo {
  id: string;
  state: "failed" | "running" | "stopped";
  isolation?: "bubblewrap" | "none" | null;
}

/** All sandboxes of this gateway. */
export type SandboxList = Record<string, never>;

/** All of them. */
export interface SandboxListResult {
  sandboxes: SandboxInfo[];
}

/** Column and row from 0. */
export interface ScreenCursor {
  x: number;
  y: number;
  visible: boolean;
  shape?: "bar" | "block" | "hollow" | "underline" | null;
}

/** What the program has asked of its terminal. `kitty_keyboard`: the flags of that protocol. */
export interface ScreenModes {
  application_cursor: boolean;
  application_keypad: boolean;
  bracketed_paste: boolean;
  reverse: boolean;
  origin: boolean;
  autowrap: boolean;
  insert: boolean;
  focus: boolean;
  synchronized: boolean;
  mouse?: "any" | "drag" | "press" | "x10" | null;
  mouse_format: "sgr" | "sgr_pixels" | "urxvt" | "utf8" | "x10";
  kitty_keyboard: number;
}

/** A file whose name matched, or a `line` (from 1) of it with the `spans` that match, in characters of `text`. */
export interface SearchMatch {
  path: string;
  line?: number | null;
  text?: string | null;
  spans?: [number, number][];
  truncated?: boolean;
}

/** Paths are relative to where was searched. */
export interface SearchMatches {
  matches: SearchMatch[];
}

/** Starts a session: a shell of its own, bash unless `shell` is the path of another, or there is none. */
export interface SessionCreate {
  id?: string | null;
  cwd?: string | null;
  env?: Record<string, string | null> | null;
  shell?: string | null;
}

/** Ends a session with all that it started, and forgets it: TERM, then KILL after `grace` seconds (5). */
export interface SessionDelete {
  id: string;
  instance?: string | null;
  grace?: number | null;
}

/**
 * Runs a command in the session's shell, after those that came before it.
 *
 * `cwd` and `env` are for this command alone; a relative `cwd` begins at the session's. `timeout` counts from when the command begins, and kills it, not the session. Of each stream at most `max_output` bytes are sent.
 */
export interface SessionExec {
  id: string;
  instance?: string | null;
  command: string;
  cwd?: string | null;
  env?: Record<string, string | null> | null;
  stdin?: boolean | null;
  timeout?: number | null;
  max_output?: number | null;
  since?: Since | null;
  input?: string | null;
}

/** It is this command's turn. `instance` is that of the run, `session` that of the session of that `id`. */
export interface SessionExecOpened {
  id: string;
  session: string;
  instance: string;
  from?: StreamOffsets;
  input_offset?: number;
}

/** The end of a command and of its output, by its final offsets. `ended`: the shell has ended with it. */
export interface SessionExecResult {
  code?: number | null;
  signal?: string | null;
  timed_out?: boolean;
  oom?: boolean | null;
  stdout: number;
  stderr: number;
  truncated?: boolean;
  ended?: boolean;
}

/** It is not this command's turn yet. `ahead`: how many are before it, the one that runs included. */
export interface SessionExecWaiting {
  ahead: number;
}

/** Describes one session. */
export interface SessionGet {
  id: string;
}

/**
 * A session. `instance` is new each time one of that `id` is created; `started` in seconds since 1970.
 *
 * `running`: a command is being run; `waiting`: how many wait for their turn. `exit`: how the shell ended.
 */
export interface SessionInfo {
  id: string;
  instance: string;
  pid: number;
  shell: string;
  started?: number;
  state?: "exited" | "running";
  running?: boolean;
  waiting?: number;
  exit?: Exit | null;
}

/** Describes the sessions that live, and those that have ended and whose record is kept. */
export type SessionList = Record<string, never>;

/** All of them. */
export interface SessionListResult {
  sessions: SessionInfo[];
}

/**
 * Starts a process from what the session is when its turn comes; what it changes is its own.
 *
 * `session` gives the working directory, the exported environment and, for a `command`, functions, aliases and options; the rest is as in `process.start`.
 */
export interface SessionProcess {
  session: string;
  instance?: string | null;
  id?: string | null;
  argv?: string[] | null;
  command?: string | null;
  cwd?: string | null;
  env?: Record<string, string | null> | null;
  stdin?: boolean | null;
  timeout?: number | null;
}

/** Waits for the end of a session. */
export interface SessionWatch {
  id: string;
  instance?: string | null;
}

/** How its shell ended. */
export interface SessionWatchResult {
  exit: Exit;
}

/** The token for those who may only look. */
export type ShareToken = Record<string, never>;

/** A token and the role it is for. */
export interface ShareTokenResult {
  token: string;
  role: string;
}

/** Where to begin in each stream: the offset of the first byte that is wanted. */
export interface Since {
  stdout?: number | null;
  stderr?: number | null;
}

/** Offsets in each stream. */
export interface StreamOffsets {
  stdout?: number;
  stderr?: number;
}

/** The bytes of `stream` before `from` are no longer kept. */
export interface StreamTruncated {
  stream: "stderr" | "stdout";
  from: number;
}

/** Whether this viewer answers what programs ask of an emulator. */
export interface TerminalAnswers {
  answers: boolean;
}

/**
 * Follow a terminal: its output from an offset on, or its screen where that is no longer kept; and type into it.
 *
 * `since`: the offset after the last byte that is known. `input` names the stream of what is typed. `viewer`, `cols` and `rows` say who looks and what would fit. `lossless` asks never to be outrun by the program.
 */
export interface TerminalAttach {
  id: string;
  instance?: string | null;
  since?: number | null;
  input?: string | null;
  lossless?: boolean | null;
  emulator?: boolean | null;
  read_only?: boolean | null;
  viewer?: ViewerProfile | null;
  cols?: number | null;
  rows?: number | null;
}

/** The program has ended; `offset` is the end of its output. */
export interface TerminalAttachResult {
  exit: Exit;
  offset: number;
}

/**
 * Start a terminal, unless one of that id runs.
 *
 * A running terminal of `id` is returned as it is; an exited one is replaced by a new instance. `argv` defaults to the user's shell, which is started so that it tells its directory and commands unless `integration` is false. 80 columns and 24 rows by default.
 */
export interface TerminalCreate {
  id?: string | null;
  argv?: string[] | null;
  cwd?: string | null;
  env?: Record<string, string | null> | null;
  cols?: number | null;
  rows?: number | null;
  record?: RecordOptions | boolean | null;
  integration?: boolean | null;
}

/** `created`: it was started by this call. */
export interface TerminalCreateResult {
  id: string;
  instance: string;
  pid: number;
  cols: number;
  rows: number;
  argv: string[];
  cwd: string;
  title?: string | null;
  started: number;
  state: "exited" | "running";
  exit?: Exit | null;
  start: number;
  offset: number;
  viewers: number;
  created: boolean;
}

/** One terminal as it is now. */
export interface TerminalGet {
  id: string;
}

/** The commands that a terminal's shell told of: the latest `limit` with a number below `before`. */
export interface TerminalHistory {
  id: string;
  instance?: string | null;
  limit?: number | null;
  before?: number | null;
}

/** Commands, the oldest first. `more`: there are older ones. `tells`: the shell tells its commands. */
export interface TerminalHistoryResult {
  commands: CommandInfo[];
  more: boolean;
  tells: boolean;
}

/**
 * A terminal. `instance` is new each time one of that id is started.
 *
 * `cwd` and `title` are what its programs say; `started` in seconds since 1970; `start` and `offset` are where its journal begins and ends, in bytes of output.
 */
export interface TerminalInfo {
  id: string;
  instance: string;
  pid: number;
  cols: number;
  rows: number;
  argv: string[];
  cwd: string;
  title?: string | null;
  started: number;
  state: "exited" | "running";
  exit?: Exit | null;
  start: number;
  offset: number;
  viewers: number;
}

/** End everything in a terminal: HUP and CONT, and KILL after `grace` seconds (2 by default). */
export interface TerminalKill {
  id: string;
  grace?: number | null;
}

/** How it ended. */
export interface TerminalKillResult {
  exit: Exit;
}

/**
 * Change who may type into a terminal.
 *
 * `take` makes `viewer` (a key) the one who types, `exclusive` only if nobody else does; `release` lets everybody type again, `free` whoever it was. With an `epoch` that is not the present one: `conflict`.
 */
export interface TerminalLease {
  id: string;
  action: "exclusive" | "free" | "release" | "take";
  viewer?: string | null;
  epoch?: number | null;
}

/** All terminals, running and exited. */
export type TerminalList = Record<string, never>;

/** All of them. */
export interface TerminalListResult {
  terminals: TerminalInfo[];
}

/** The replay is over at `offset`. */
export interface TerminalLive {
  offset: number;
}

/**
 * Attached. Output comes from `from` on, after `screen` bytes that paint the screen as it was there.
 *
 * `cols`, `rows` hold from there on. `answers`: this viewer answers what programs ask of an emulator. `viewer`: its own public id; `presence`: all that are here.
 */
export interface TerminalOpened {
  id: string;
  instance: string;
  pid: number;
  cols: number;
  rows: number;
  argv: string[];
  cwd: string;
  title?: string | null;
  started: number;
  state: "exited" | "running";
  exit?: Exit | null;
  start: number;
  offset: number;
  viewers: number;
  start_at: "resume" | "snapshot" | "start";
  from: number;
  screen?: number;
  input_offset?: number;
  answers?: boolean;
  read_only?: boolean;
  viewer?: string | null;
  presence?: Participant[];
  lease?: WriterLease | null;
}

/**
 * Tell the others at a terminal what `viewer` (a key) is up to.
 *
 * What is left out stays as it is; `at: null` hides the pointer.
 */
export interface TerminalPresence {
  id: string;
  viewer: string;
  name?: string | null;
  color?: string | null;
  focus?: boolean | null;
  at?: PointerPosition | null;
}

/** Output is left out: `screen` bytes of snapshot follow, then output from `from` on. */
export interface TerminalReseed {
  cols: number;
  rows: number;
  from: number;
  screen: number;
}

/** Give a terminal another size; with `viewer` (a key), say what fits that viewer. */
export interface TerminalResize {
  id: string;
  cols: number;
  rows: number;
  viewer?: string | null;
}

/** The terminal has this size from `offset` of its output on. */
export interface TerminalResized {
  cols: number;
  rows: number;
  offset: number;
}

/** A terminal's screen as text, ANSI or HTML, below up to `scrollback` rows of what has scrolled away. */
export interface TerminalScreen {
  id: string;
  instance?: string | null;
  format?: "ansi" | "html" | "text" | null;
  scrollback?: number | null;
}

/**
 * A screen as all output up to `offset` has made it. `truncated`: rows are missing at the top.
 *
 * `scrollback`: how many rows of `content` are above the screen.
 */
export interface TerminalScreenResult {
  format: "ansi" | "html" | "text";
  content: string;
  truncated: boolean;
  scrollback: number;
  cols: number;
  rows: number;
  cursor: ScreenCursor;
  alternate: boolean;
  modes: ScreenModes;
  title?: string | null;
  cwd?: string | null;
  offset: number;
}

/**
 * Type into a terminal: `text` as it is, then `paste` as pasted text, then `keys` by name, in one piece.
 *
 * With a key it is typed once. Keys are names such as "enter" or "ctrl+c". `viewer` is the key of who types: without it, somebody else's lease is `lease_held`.
 */
export interface TerminalSend {
  id: string;
  instance?: string | null;
  text?: string | null;
  paste?: string | null;
  keys?: string[] | null;
  viewer?: string | null;
}

/** `offset`: the end of the output before it; `bytes`: how many were typed. */
export interface TerminalSendResult {
  offset: number;
  bytes: number;
}

/** Send a signal to a terminal's foreground process group: a name with or without SIG, or a number. */
export interface TerminalSignal {
  id: string;
  signal: string | number;
}

/** Columns and rows, as they are now. */
export interface TerminalSize {
  cols: number;
  rows: number;
}

/**
 * Wait for what comes first in a terminal's output: a match, silence, the end of a command, or of the program.
 *
 * At least one of `pattern` (in RE2's syntax; `literal`: as it is), `silence` (seconds), `command` and `exit` is needed. Output from `since` on counts, by default from now on. `on`: match against the output's text, or the visible screen. After `timeout` seconds (30 by default) the result says `timeout`.
 */
export interface TerminalWait {
  id: string;
  instance?: string | null;
  pattern?: string | null;
  literal?: boolean | null;
  on?: "output" | "screen" | null;
  silence?: number | null;
  command?: boolean | null;
  exit?: boolean | null;
  since?: number | null;
  timeout?: number | null;
}

/** `from`: where the wait begins, above `since` if output was no longer kept. */
export interface TerminalWaitOpened {
  from: number;
}

/** What ended a wait, at `offset`. `from`: where it began. */
export interface TerminalWaitResult {
  from: number;
  event: "command" | "exit" | "pattern" | "silence" | "timeout";
  offset: number;
  match?: OutputMatch | null;
  command?: CommandInfo | null;
  exit?: Exit | null;
}

/** How somebody introduces itself in `terminal.attach`. `key` (random, secret) names it across its reconnects. */
export interface ViewerProfile {
  key?: string | null;
  name?: string | null;
  color?: string | null;
  kind?: "agent" | "person" | null;
  focus?: boolean | null;
}

/**
 * Answers what has changed in a directory since a version.
 *
 * Without `since` it begins to watch. A watch that nobody asks is kept for 10 minutes.
 */
export interface WatchChanges {
  path: string;
  recursive?: boolean;
  include?: string[] | null;
  exclude?: string[] | null;
  since?: string | null;
}

/** What has changed: all of it unless `more`, and then the rest is what changed since this `version`. */
export interface WatchChangesResult {
  id: string;
  status: "changed" | "rescan" | "unchanged";
  version: string;
  changes?: WatchedChange[];
  more?: boolean;
  reason?: "behind" | "expired" | "overflow" | "restarted" | null;
}

/** Changes up to `version` are not known: look at the directory itself. */
export interface WatchRescan {
  version: string;
  reason: "behind" | "expired" | "overflow" | "restarted";
}

/**
 * Tells the changes in a directory, as they happen.
 *
 * `since`: a version that this or another call gave; what has changed since then comes first.
 */
export interface WatchStart {
  path: string;
  recursive?: boolean;
  include?: string[] | null;
  exclude?: string[] | null;
  since?: string | null;
}

/** `watch.stop` was called. */
export interface WatchStartResult {
  reason?: "stopped";
}

/** It is live: what changes from here on is told. */
export interface WatchStarted {
  id: string;
  path: string;
  version: string;
}

/** Ends a watch for everybody. One that is gone already is no error. */
export interface WatchStop {
  id: string;
}

/** Something at `path` (absolute). A directory that is deleted or added stands for what it held or holds too. */
export interface WatchedChange {
  type: "added" | "deleted" | "modified";
  path: string;
  directory?: boolean;
}

/** In order; of each path the sum of what happened. */
export interface WatchedChanges {
  version: string;
  changes: WatchedChange[];
}

/** Who may type: the viewer whose id is `holder`, or everybody if it is null. `epoch` grows with each change. */
export interface WriterLease {
  mode: "exclusive" | "free";
  holder?: string | null;
  epoch: number;
}

/** `applied`: how much of the channel's own input stream had been applied by then. */
export interface WriterLeaseEvent {
  mode: "exclusive" | "free";
  holder?: string | null;
  epoch: number;
  applied: number;
}

/** The methods of a sandbox, by name. */
export interface Methods {
  "exec": {
    params: Exec;
    result: ExecResult;
    events: { opened: ProcessOpened; truncated: StreamTruncated };
  };
  "file.archive": {
    params: FileArchive;
    result: FileArchiveResult;
    events: { opened: FileArchiveOpened };
  };
  "file.chmod": {
    params: FileChmod;
    result: Nothing;
    events: Record<string, never>;
  };
  "file.copy": {
    params: FileCopy;
    result: FileCopyResult;
    events: Record<string, never>;
  };
  "file.delete": {
    params: FileDelete;
    result: FileDeleteResult;
    events: Record<string, never>;
  };
  "file.exists": {
    params: FileExists;
    result: FileExistsResult;
    events: Record<string, never>;
  };
  "file.list": {
    params: FileList;
    result: FileListResult;
    events: { entries: FileEntries; failed: FileFailure };
  };
  "file.mkdir": {
    params: FileMkdir;
    result: FileMkdirResult;
    events: Record<string, never>;
  };
  "file.move": {
    params: FileMove;
    result: Nothing;
    events: Record<string, never>;
  };
  "file.read": {
    params: FileRead;
    result: FileTransferResult;
    events: { opened: FileOpened };
  };
  "file.rename": {
    params: FileRename;
    result: Nothing;
    events: Record<string, never>;
  };
  "file.search": {
    params: FileSearch;
    result: FileSearchResult;
    events: { matches: SearchMatches; failed: FileFailure };
  };
  "file.stat": {
    params: FileStat;
    result: FileStatResult;
    events: Record<string, never>;
  };
  "file.write": {
    params: FileWrite;
    result: FileTransferResult;
    events: { opened: FileWriteOpened };
  };
  "git.add": {
    params: GitAdd;
    result: Nothing;
    events: Record<string, never>;
  };
  "git.branch": {
    params: GitBranch;
    result: GitBranchResult;
    events: Record<string, never>;
  };
  "git.cancel": {
    params: GitCancel;
    result: Nothing;
    events: Record<string, never>;
  };
  "git.checkout": {
    params: GitCheckout;
    result: GitHead;
    events: Record<string, never>;
  };
  "git.clone": {
    params: GitClone;
    result: GitHead;
    events: { progress: GitProgress };
  };
  "git.commit": {
    params: GitCommit;
    result: GitHead;
    events: Record<string, never>;
  };
  "git.diff": {
    params: GitDiff;
    result: GitDiffResult;
    events: Record<string, never>;
  };
  "git.log": {
    params: GitLog;
    result: GitLogResult;
    events: Record<string, never>;
  };
  "git.pull": {
    params: GitPull;
    result: GitHead;
    events: Record<string, never>;
  };
  "git.push": {
    params: GitPush;
    result: GitPushResult;
    events: Record<string, never>;
  };
  "git.status": {
    params: GitStatus;
    result: GitStatusResult;
    events: Record<string, never>;
  };
  "port.connect": {
    params: PortConnect;
    result: PortConnectResult;
    events: { opened: PortConnectOpened; end: PortConnectEnd };
  };
  "port.expose": {
    params: PortExpose;
    result: ExposedPort;
    events: Record<string, never>;
  };
  "port.exposed": {
    params: PortExposed;
    result: PortExposedResult;
    events: Record<string, never>;
  };
  "port.list": {
    params: PortList;
    result: PortListResult;
    events: Record<string, never>;
  };
  "port.unexpose": {
    params: PortUnexpose;
    result: Nothing;
    events: Record<string, never>;
  };
  "port.watch": {
    params: PortWatch;
    result: Nothing;
    events: { ports: PortListResult };
  };
  "process.attach": {
    params: ProcessAttach;
    result: ProcessAttachResult;
    events: { opened: ProcessOpened; truncated: StreamTruncated; exit: Exit };
  };
  "process.get": {
    params: ProcessGet;
    result: ProcessInfo;
    events: Record<string, never>;
  };
  "process.kill": {
    params: ProcessKill;
    result: ProcessKillResult;
    events: Record<string, never>;
  };
  "process.list": {
    params: ProcessList;
    result: ProcessListResult;
    events: Record<string, never>;
  };
  "process.signal": {
    params: ProcessSignal;
    result: Nothing;
    events: Record<string, never>;
  };
  "process.start": {
    params: ProcessStart;
    result: ProcessInfo;
    events: Record<string, never>;
  };
  "process.wait": {
    params: ProcessWait;
    result: ProcessWaitResult;
    events: { opened: ProcessWaitOpened };
  };
  "recording.delete": {
    params: RecordingDelete;
    result: Nothing;
    events: Record<string, never>;
  };
  "recording.get": {
    params: RecordingGet;
    result: RecordingInfo;
    events: Record<string, never>;
  };
  "recording.list": {
    params: RecordingList;
    result: RecordingListResult;
    events: Record<string, never>;
  };
  "recording.mark": {
    params: RecordingMark;
    result: RecordingInfo;
    events: Record<string, never>;
  };
  "recording.read": {
    params: RecordingRead;
    result: FileTransferResult;
    events: { opened: FileOpened };
  };
  "recording.start": {
    params: RecordingStart;
    result: RecordingInfo;
    events: Record<string, never>;
  };
  "recording.stop": {
    params: RecordingStop;
    result: RecordingInfo;
    events: Record<string, never>;
  };
  "recording.watch": {
    params: RecordingWatch;
    result: Nothing;
    events: { recordings: RecordingListResult };
  };
  "runtime.info": {
    params: RuntimeInfo;
    result: RuntimeInfoResult;
    events: Record<string, never>;
  };
  "runtime.metrics": {
    params: RuntimeMetrics;
    result: RuntimeMetricsResult;
    events: Record<string, never>;
  };
  "session.create": {
    params: SessionCreate;
    result: SessionInfo;
    events: Record<string, never>;
  };
  "session.delete": {
    params: SessionDelete;
    result: Nothing;
    events: Record<string, never>;
  };
  "session.exec": {
    params: SessionExec;
    result: SessionExecResult;
    events: { waiting: SessionExecWaiting; opened: SessionExecOpened; truncated: StreamTruncated };
  };
  "session.get": {
    params: SessionGet;
    result: SessionInfo;
    events: Record<string, never>;
  };
  "session.list": {
    params: SessionList;
    result: SessionListResult;
    events: Record<string, never>;
  };
  "session.process": {
    params: SessionProcess;
    result: ProcessInfo;
    events: Record<string, never>;
  };
  "session.watch": {
    params: SessionWatch;
    result: SessionWatchResult;
    events: { opened: SessionInfo };
  };
  "terminal.attach": {
    params: TerminalAttach;
    result: TerminalAttachResult;
    events: { opened: TerminalOpened; resized: TerminalResized; live: TerminalLive; reseed: TerminalReseed; answers: TerminalAnswers; joined: ParticipantEvent; presence: ParticipantEvent; left: ParticipantLeft; lease: WriterLeaseEvent; exit: Exit };
  };
  "terminal.create": {
    params: TerminalCreate;
    result: TerminalCreateResult;
    events: Record<string, never>;
  };
  "terminal.get": {
    params: TerminalGet;
    result: TerminalInfo;
    events: Record<string, never>;
  };
  "terminal.history": {
    params: TerminalHistory;
    result: TerminalHistoryResult;
    events: Record<string, never>;
  };
  "terminal.kill": {
    params: TerminalKill;
    result: TerminalKillResult;
    events: Record<string, never>;
  };
  "terminal.lease": {
    params: TerminalLease;
    result: WriterLease;
    events: Record<string, never>;
  };
  "terminal.list": {
    params: TerminalList;
    result: TerminalListResult;
    events: Record<string, never>;
  };
  "terminal.presence": {
    params: TerminalPresence;
    result: ParticipantEvent;
    events: Record<string, never>;
  };
  "terminal.resize": {
    params: TerminalResize;
    result: TerminalSize;
    events: Record<string, never>;
  };
  "terminal.screen": {
    params: TerminalScreen;
    result: TerminalScreenResult;
    events: Record<string, never>;
  };
  "terminal.send": {
    params: TerminalSend;
    result: TerminalSendResult;
    events: Record<string, never>;
  };
  "terminal.signal": {
    params: TerminalSignal;
    result: Nothing;
    events: Record<string, never>;
  };
  "terminal.wait": {
    params: TerminalWait;
    result: TerminalWaitResult;
    events: { opened: TerminalWaitOpened };
  };
  "watch.changes": {
    params: WatchChanges;
    result: WatchChangesResult;
    events: Record<string, never>;
  };
  "watch.start": {
    params: WatchStart;
    result: WatchStartResult;
    events: { watching: WatchStarted; changes: WatchedChanges; rescan: WatchRescan };
  };
  "watch.stop": {
    params: WatchStop;
    result: Nothing;
    events: Record<string, never>;
  };
}

/** The methods of the gateway itself, which name no sandbox, by name. */
export interface GatewayMethods {
  "preview.host": {
    params: PreviewHost;
    result: PreviewHostResult;
    events: Record<string, never>;
  };
  "sandbox.list": {
    params: SandboxList;
    result: SandboxListResult;
    events: Record<string, never>;
  };
  "share.token": {
    params: ShareToken;
    result: ShareTokenResult;
    events: Record<string, never>;
  };
}
