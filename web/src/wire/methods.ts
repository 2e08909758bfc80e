// Generated from hawse/api by `make generate`; do not edit. Types only.

/** One entry of the audit log. */
export interface AuditEntry {
  /** When it was written, in seconds since 1970. Calls are logged when they end; streams are also logged when they start. */
  time: number;
  /** The method called, or else `connect`, `disconnect`, `refused`, or `egress` (the sandbox's proxy refused a program's request). */
  action: string;
  /** `ok`, `open` for a stream that has started, the error code, or the proxy's reason. */
  outcome: string;
  /** The `id` of the caller; empty if it was not authenticated. */
  user?: string;
  /** The name of the caller; can be empty. */
  name?: string;
  /** `owner`, `user`, `guest` or `service`; empty if it was not authenticated. */
  kind?: string;
  /** The id of the caller's token, link or session; null if the caller had none, or used the owner's configured token. */
  credential?: string | null;
  /** Address of the client, `HOST:PORT`; empty for calls made by the gateway itself. */
  address?: string;
  /** The id of the call or request, as it appears in logs and errors. */
  request?: string;
  /** The sandbox that was called, if any. */
  sandbox?: string | null;
  /** The objects that the call acted on, from parameters such as `id`, `path` and `terminal`, but never from a parameter that could be a secret. */
  on?: Record<string, string>;
  /** The entry's position in the log, for use with `before` and `after`. */
  position?: string;
}

/**
 * List entries of this gateway's audit log, newest first.
 *
 * Callers see only the entries for sandboxes that they may grant access to.
 */
export interface AuditList {
  /** Only entries from this time on, in seconds since 1970. */
  since?: number | null;
  /** Only entries before this time, in seconds since 1970. */
  until?: number | null;
  /** Only entries for the caller with this `id`. */
  user?: string | null;
  /** Only entries for this action, or for all actions with this prefix if it ends with `.`, such as `token.`. */
  method?: string | null;
  /** Only entries for this sandbox. */
  sandbox?: string | null;
  /** Only entries with this outcome. */
  outcome?: string | null;
  /** Only entries newer than the one at this position. */
  after?: string | null;
  /** Only entries older than the one at this position; used to get the next page. */
  before?: string | null;
  /** Maximum number of entries. */
  limit?: number;
}

/** A page of the audit log. */
export interface AuditListResult {
  /** The entries, newest first. An empty page is not necessarily the last one. */
  entries: AuditEntry[];
  /** The `before` value for the next page, which has older entries. Null on the last page. */
  before?: string | null;
}

/**
 * Cancel a `backup.create` or `backup.restore` call by its key.
 *
 * It is not an error if the call is unknown or has ended.
 */
export interface BackupCancel {
  /** The idempotency key of the call. */
  key: string;
}

/**
 * Back up a directory in a sandbox to the gateway's store.
 *
 * File names with arbitrary bytes, modes, owners, times, symlinks, hard links, extended attributes, FIFOs and holes are preserved. If a file cannot be read, the call fails and nothing is stored. Files that change during the backup are counted in `changed`.
 *
 * With an idempotency key, the call continues for 60 seconds after its connection is lost, and a repeated call with the same key returns its outcome.
 */
export interface BackupCreate {
  /** The directory. */
  path?: string;
  /** Globs for files and directories to exclude. They match names at any depth or, if they contain a slash, paths. */
  exclude?: string[] | null;
  /** Whether to exclude files that git ignores, if the directory is in a repository. */
  gitignore?: boolean;
  /** How the archive is compressed; null means `zstd` if the sandbox has it, otherwise `gzip`. */
  compression?: "gzip" | "none" | "zstd" | null;
  /** Id of the sandbox. */
  sandbox: string;
  /** Display name. */
  name?: string | null;
  /** Seconds until the backup is deleted, counted from its creation; null means never. */
  ttl?: number | null;
  /** Whether to create the image for overlays right away, so that the first restore with the mode `overlay` is instant. */
  overlay?: boolean;
}

/** Delete a backup. */
export interface BackupDelete {
  /** Id of the backup. */
  backup: string;
}

/** Return a backup. */
export interface BackupGet {
  /** Id of the backup. */
  backup: string;
}

/** A backup. */
export interface BackupInfo {
  /** Its id. */
  id: string;
  /** The sandbox that was backed up. */
  sandbox: string;
  /** The directory that was backed up. */
  path: string;
  /** Display name. */
  name?: string | null;
  /** Id of the user who created it. */
  owner?: string | null;
  /** Its storage format: `tar`, `tar.gz` or `tar.zst`. */
  format?: string;
  /** Size of the archive, in bytes. */
  size?: number;
  /** SHA-256 of the archive, in hexadecimal. */
  sha256?: string;
  /** Number of files, directories and other entries in it. */
  entries?: number;
  /** Total size of its files, in bytes, excluding holes. */
  bytes?: number;
  /** Number of files that changed while they were being read. Their archived content can be a mix of versions. */
  changed?: number;
  /** Number of devices and sockets, which are not archived. */
  skipped?: number;
  /** When it was created, in seconds since 1970. */
  created?: number;
  /** When it will be deleted, in seconds since 1970; null means never. */
  expires?: number | null;
}

/** List the caller's backups, and the backups of sandboxes where the caller has the `operate` right. */
export interface BackupList {
  /** Only backups of this sandbox; null means all. */
  sandbox?: string | null;
}

/** Backups on a gateway. */
export interface BackupListResult {
  /** The backups that the caller may use, newest first. */
  backups: BackupInfo[];
}

/** Stream a directory as an archive. `backup.create` calls this. */
export interface BackupPack {
  /** The directory. */
  path?: string;
  /** Globs for files and directories to exclude. They match names at any depth or, if they contain a slash, paths. */
  exclude?: string[] | null;
  /** Whether to exclude files that git ignores, if the directory is in a repository. */
  gitignore?: boolean;
  /** How the archive is compressed; null means `zstd` if the sandbox has it, otherwise `gzip`. */
  compression?: "gzip" | "none" | "zstd" | null;
}

/** A directory was packed, and all bytes of the archive were sent. */
export interface BackupPackResult {
  /** `tar`, `tar.gz` or `tar.zst`. */
  format: string;
  /** Size of the archive, in bytes. */
  size: number;
  /** SHA-256 of the archive, in hexadecimal. */
  sha256: string;
  /** Number of files, directories and other entries in it. */
  entries: number;
  /** Total size of its files, in bytes, excluding holes. */
  bytes: number;
  /** Number of files that changed while they were being read. */
  changed: number;
  /** Number of devices and sockets, which are not archived. */
  skipped: number;
}

/** Progress of a backup or restore, sent at the start and then a few times per second. */
export interface BackupProgress {
  /** The current step. `packing` and `unpacking` happen in the sandbox; `converting` creates the image for overlays. */
  phase: "converting" | "packing" | "reading" | "storing" | "unpacking";
  /** Number of files, directories and other entries packed or unpacked so far. */
  entries?: number;
  /** Number of bytes processed so far: file content or, while the archive is being stored or read, bytes of the archive. */
  bytes?: number;
}

/**
 * Restore a directory in a sandbox from a backup. The backup replaces the directory's current content.
 *
 * Before replacing anything, the call unpacks the backup beside the directory and verifies its checksum. If the restore fails or is cancelled, nothing changes.
 *
 * The mode `overlay` copies nothing: the backup appears in the directory, which must be empty or missing. Changes made by programs are kept in the sandbox. The first time this mode is used, the backup is converted to an image. The overlay is a mount: `mount.list` lists it, it is remounted whenever the sandbox starts, and `mount.delete` removes it along with all changes. If the sandbox does not support mounts, the error is `unavailable`.
 */
export interface BackupRestore {
  /** Id of the backup. */
  backup: string;
  /** Id of the sandbox to restore into, which can be a different one; null means the sandbox that was backed up. */
  sandbox?: string | null;
  /** The directory, which is created if it is missing; null means the directory that was backed up. */
  path?: string | null;
  /** `copy` copies the files; `overlay` reads them from the backup on demand. */
  mode?: "copy" | "overlay";
}

/** A backup was restored. */
export interface BackupRestoreResult {
  /** Number of files, directories and other entries that were restored. */
  entries: number;
  /** Total size of the files written, in bytes; 0 for an overlay. */
  bytes: number;
  /** Number of file attributes not restored because the sandbox is not allowed to set them, such as capabilities. */
  skipped?: number;
  /** For an overlay, the id of its mount, to pass to `mount.delete`. */
  mount?: string | null;
}

/** Replace a directory's content with an archive from `backup.pack`. `backup.restore` calls this. */
export interface BackupUnpack {
  /** The archive, a file in the sandbox. */
  archive: string;
  /** The expected SHA-256 of the archive, in hexadecimal. If it differs, the error is `io_error` and nothing changes. */
  sha256: string;
  /** The directory, which is created if it is missing. */
  path?: string;
}

/** Return the caller's backup store usage and limits. */
export type BackupUsage = Record<string, never>;

/** A user's usage of the backup store. */
export interface BackupUsageResult {
  /** Number of backups. */
  backups: number;
  /** Total size of their archives, in bytes, including space reserved for backups in progress. */
  bytes: number;
  /** Maximum number of backups; null means no limit. */
  max_backups: number | null;
  /** Maximum total size, in bytes, as long as other users' backups leave enough space. */
  max_bytes: number;
}

/**
 * Answer an input request from the run in progress.
 *
 * If the request was already answered or is no longer pending, the error is `conflict`.
 */
export interface CodeAnswer {
  /** Id of the run. */
  run: string;
  /** The request's number, from the `input` event. */
  request: number;
  /** The line, without a line break. */
  value: string;
}

/**
 * Follow the output of a run to its end.
 *
 * The 64 runs that ended most recently are kept, with up to 64 MiB of each stream. `cancel` detaches; the run continues.
 */
export interface CodeAttach {
  /** Id of the context. */
  context: string;
  /** The expected instance of the context. If the context has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Id of the run; null means the run in progress or, if there is none, the last run. */
  run?: string | null;
  /** Where to start in each stream; null means the beginning. */
  since?: CodeSince | null;
}

/** The program asks the client to clear the output shown so far. */
export interface CodeClear {
  /** Offset after this event, to pass in `since`. */
  offset: number;
  /** Whether to keep the old output until new output arrives. */
  wait?: boolean;
}

/** Return completions for a piece of code. If a run is in progress, the executor finishes the run first. */
export interface CodeComplete {
  /** Id of the context. */
  context: string;
  /** The expected instance of the context. If the context has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** The code. */
  source: string;
  /** Position in the code, in characters; null means its end. */
  cursor?: number | null;
}

/** Completions for a piece of code. */
export interface CodeCompleteResult {
  /** The possible completions. */
  matches: string[];
  /** Start of the text to replace, in characters. */
  start: number;
  /** End of the text to replace, in characters. */
  end: number;
}

/** A code context: an executor whose runs share its state. */
export interface CodeContextInfo {
  /** Id of the context. */
  id: string;
  /** Unique id for this instance of the context; a context created later with the same `id` gets a new one. */
  instance: string;
  /** Language of the code. */
  language: string;
  /** Name of the Jupyter kernel that runs it. */
  kernel: string;
  /** Process id of the executor, in the PID namespace of the sandbox's programs. */
  pid: number;
  /** Directory where the executor was started. */
  cwd?: string;
  /** When the context was created, in seconds since 1970. */
  created?: number;
  /** `running` while it has an executor; `exited` after the executor has ended, until `code.restart`. */
  state?: "exited" | "running";
  /** Id of the run in progress; null if there is none. */
  running?: string | null;
  /** Number of queued runs. */
  waiting?: number;
  /** Unanswered input request from the run in progress; null if there is none. */
  input?: CodeInputRequest | null;
  /** Number of times `code.restart` has replaced the executor. */
  restarts?: number;
  /** How the executor ended; null while it is running. */
  exit?: Exit | null;
}

/**
 * Create a context with its own executor, and return once it is ready.
 *
 * The executor runs until `code.delete` is called, and only this context's runs share its state. The number of contexts is unlimited unless the runtime is configured otherwise. If a context with this id exists, the error is `conflict`. If no kernel for the language is installed, the error is `language_unavailable`, and its message explains how to install one.
 */
export interface CodeCreate {
  /** Id of the context; null lets the server choose one. */
  id?: string | null;
  /** Language of the code; null means the language of `kernel`, or python. */
  language?: string | null;
  /** Name of an installed Jupyter kernel; null means the default kernel of `language`. */
  kernel?: string | null;
  /** Directory to start in, relative to the workspace; null means the workspace. */
  cwd?: string | null;
  /** Variables to add to the environment; a null value removes the variable. */
  env?: Record<string, string | null> | null;
  /** Default `timeout` for runs, in seconds; null means no limit. */
  timeout?: number | null;
}

/**
 * Delete a context and end its executor and all processes started by its code. Returns once all have exited.
 *
 * Does not wait for a run in progress, which ends as `stopped`. Queued runs fail with `exited`.
 */
export interface CodeDelete {
  /** Id of the context. */
  context: string;
  /** The expected instance of the context. If the context has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
}

/** A MIME bundle: one object in several representations, as in Jupyter's messages. */
export interface CodeDisplay {
  /** Offset after this event, to pass in `since`. */
  offset: number;
  /** Values keyed by MIME type: text, base64 for binary types, or JSON values for JSON types. */
  data?: Record<string, unknown>;
  /** Values larger than 64 KiB, which are not in `data`. */
  large?: CodeLargeValue[];
  /** MIME types of values that were dropped because they are larger than 64 MiB. */
  omitted?: string[];
  /** The program's metadata for the values, keyed by MIME type. */
  metadata?: Record<string, unknown>;
  /** Id that `update` events refer to; null if the bundle cannot be updated. */
  display_id?: string | null;
  /** For `value` events: the number of the run in its context. Null otherwise. */
  execution_count?: number | null;
}

/** The error that ended a run. */
export interface CodeError {
  /** Its type, such as `ValueError`. */
  name: string;
  /** Its message. */
  value: string;
  /** The lines of the traceback, without terminal colours. */
  traceback?: string[];
}

/** The code has failed. */
export interface CodeErrorRaised {
  /** Its type, such as `ValueError`. */
  name: string;
  /** Its message. */
  value: string;
  /** The lines of the traceback, without terminal colours. */
  traceback?: string[];
  /** Offset after this event, to pass in `since`. */
  offset: number;
}

/** Describe one context. */
export interface CodeGet {
  /** Id of the context. */
  context: string;
}

/** The program is waiting for a line of input, to be sent with `code.answer`. */
export interface CodeInputRequest {
  /** Offset after this event, to pass in `since`. */
  offset: number;
  /** The request's number, to pass to `code.answer`. */
  request: number;
  /** Text to show before the input. */
  prompt?: string;
  /** Whether to hide the input. */
  password?: boolean;
}

/** Describe the object at a position in the code. If a run is in progress, the executor finishes the run first. */
export interface CodeInspect {
  /** Id of the context. */
  context: string;
  /** The expected instance of the context. If the context has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** The code. */
  source: string;
  /** Position in the code, in characters; null means its end. */
  cursor?: number | null;
  /** 0 for signature and documentation, 1 to include the source; null means 0. */
  detail?: number | null;
}

/** Documentation for the object at a position. */
export interface CodeInspectResult {
  /** Whether there is an object at the position. */
  found: boolean;
  /** Its documentation, keyed by MIME type. */
  data?: Record<string, unknown>;
}

/**
 * Interrupt the run in progress, as Ctrl-C does. Queued runs are not affected.
 *
 * If no run is in progress, or if the run in progress is not `run`, nothing happens. Set at least one of `context` and `run`.
 */
export interface CodeInterrupt {
  /** Id of the context; null means the run's context. */
  context?: string | null;
  /** The expected instance of the context. If the context has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Id of the only run to interrupt; null means any run. */
  run?: string | null;
  /** Seconds to wait for the run to end before its executor is killed; null means never. */
  grace?: number | null;
}

/** A language, and the Jupyter kernel that runs it. */
export interface CodeLanguage {
  /** Name to pass to `code.create`. */
  language: string;
  /** Name of the kernel; null if none is installed. */
  kernel?: string | null;
  /** The kernel's display name; empty if none is installed. */
  title?: string;
  /** How to install a kernel; empty if one is installed. */
  install?: string;
}

/** List the languages that are installed or can be installed. */
export type CodeLanguages = Record<string, never>;

/** Languages. */
export interface CodeLanguagesResult {
  /** Languages that are installed or can be installed. */
  languages: CodeLanguage[];
  /** Number of idle executors in the pool, keyed by kernel. */
  ready?: Record<string, number>;
}

/** A large value in a MIME bundle. It is sent in the `bundles` stream, ahead of the event that contains the bundle. */
export interface CodeLargeValue {
  /** The MIME type. */
  type: string;
  /** Offset of its first byte in the stream. */
  offset: number;
  /** Its length in bytes. */
  size: number;
  /** `base64` for base64 text, which is decoded before it is sent; `text` for UTF-8 text; `json` for JSON. */
  form: "base64" | "json" | "text";
}

/** List all contexts. */
export type CodeList = Record<string, never>;

/** Code contexts. */
export interface CodeListResult {
  /** All contexts, in order of creation. */
  contexts: CodeContextInfo[];
}

/** An offset for each stream of a run. */
export interface CodeOffsets {
  /** Offset in stdout, in bytes. */
  stdout?: number;
  /** Offset in stderr, in bytes. */
  stderr?: number;
  /** Offset in the stream that carries large values. */
  bundles?: number;
  /** The `offset` of an event. */
  events?: number;
}

/**
 * Replace the executor of a context with a new one; all state of the code is lost.
 *
 * The run in progress ends as `stopped`, and queued runs fail with `exited`. All processes started by the code are killed. If the new executor fails to start, the context is left without one; call `code.restart` to retry.
 */
export interface CodeRestart {
  /** Id of the context. */
  context: string;
  /** The expected instance of the context. If the context has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
}

/**
 * Run code, in a context or in a new executor, and stream its output. Runs in the same context are queued.
 *
 * Without a `context`, the code runs in a fresh executor, which ends after the run.
 *
 * The call returns a result with a `status` however the code ends; it fails only if the run couldn't be started. If the executor of the context has ended, the error is `exited` until `code.restart` is called. At most 64 runs can be queued in a context (`limit_exceeded`).
 *
 * `cancel` does not end running code, but it removes a queued run if no other call has joined it. With an idempotency key, a repeated call joins the run, and `since` sets where each stream continues. A run with neither a `context` nor a key ends when its call does.
 *
 * When the time limit is reached, the code is interrupted. If it hasn't ended 2 seconds later, its executor is killed.
 */
export interface CodeRun {
  /** Id of the context; null means a new executor, for this run only. */
  context?: string | null;
  /** The expected instance of the context. If the context has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Language of the code if there is no `context`; null means python. */
  language?: string | null;
  /** The code. */
  source: string;
  /** Time limit in seconds, from the start of the run; null means the context's default. */
  timeout?: number | null;
  /** Whether the run is counted and kept in the executor's history; null means true. */
  store_history?: boolean | null;
  /** Whether the code can ask for input, which sends an `input` event; otherwise, asking raises an error in the code. */
  stdin?: boolean | null;
  /** For a repeated call: where to continue each stream. Null means the beginning. */
  since?: CodeSince | null;
}

/** A run in a context: queued, in progress, or ended but still kept. */
export interface CodeRunInfo {
  /** Its id, for `code.attach`. */
  run: string;
  /** Its state. */
  state: "ended" | "running" | "waiting";
  /** How it ended; null until then. */
  status?: "crashed" | "error" | "interrupted" | "ok" | "stopped" | "timed_out" | null;
  /** Name of the caller that started it, possibly empty. */
  by?: string;
  /** Kind of that caller: `owner`, `user`, `guest` or `service`. */
  kind?: string;
}

/** The run has started, and its output follows. */
export interface CodeRunOpened {
  /** Id of the run. */
  run: string;
  /** Id of its context; null if it has no context. */
  context?: string | null;
  /** Id of the instance of the run's context; null if the run has no context. */
  instance?: string | null;
  /** The first 65,536 characters of the code, for `code.attach`; null for `code.run`. */
  source?: string | null;
  /** For each stream, the offset of the first byte or event that will be sent; greater than `since` if older output was dropped. */
  from?: CodeOffsets;
}

/** A run has ended, and all its output has been sent. */
export interface CodeRunResult {
  /** How it ended; docs/code.md describes each value. */
  status: "crashed" | "error" | "interrupted" | "ok" | "stopped" | "timed_out";
  /** Id of the run. */
  run: string;
  /** The run's number in its context; null if the executor did not report it. */
  execution_count?: number | null;
  /** The error that ended it; null if there was none. */
  error?: CodeError | null;
  /** Whether the executor was killed because the run did not end after it was interrupted at the time limit. */
  killed?: boolean;
  /** How the executor ended; null while it is running. */
  exit?: Exit | null;
  /** How long it ran in the executor, in seconds. */
  duration?: number;
  /** Length of each stream. */
  end?: CodeOffsets;
}

/** The run is queued or waiting for its executor to start. */
export interface CodeRunWaiting {
  /** Number of runs ahead of it in the queue, including the run in progress. */
  ahead: number;
  /** Id of the run. */
  run?: string;
}

/** For each stream of a run, the offset of the first byte or event to send. */
export interface CodeSince {
  /** Offset in stdout; null means 0. */
  stdout?: number | null;
  /** Offset in stderr; null means 0. */
  stderr?: number | null;
  /** Offset in the stream that carries large values; null means 0. */
  bundles?: number | null;
  /** The `offset` of the last event received; null means 0. */
  events?: number | null;
}

/** Part of a stream was dropped because the client read it too slowly. */
export interface CodeTruncated {
  /** The stream. */
  stream: "bundles" | "events" | "stderr" | "stdout";
  /** Offset of the next byte or event that will be sent; everything before it was dropped. */
  from: number;
}

/**
 * Report a context and all clients' runs in it, now and after every change, until the context is deleted.
 *
 * Changes that a slow client hasn't read yet are merged. To follow the output of a run, use `code.attach`.
 */
export interface CodeWatch {
  /** Id of the context. */
  context: string;
  /** The expected instance of the context. If the context has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
}

/** The current state of a context and its runs. */
export interface CodeWatched {
  /** The context. */
  context: CodeContextInfo;
  /** The ended runs that are still kept, the run in progress and the queued runs, in the order they were requested. */
  runs: CodeRunInfo[];
}

/**
 * A command as reported by the shell.
 *
 * These reports are not reliable, because programs can print the same escape sequences.
 */
export interface CommandInfo {
  /** The command's number in this terminal, starting at 1. */
  number: number;
  /** The command line, truncated to 4,096 characters; null if unknown. */
  line?: string | null;
  /** Directory where it was started; null if unknown. */
  cwd?: string | null;
  /** When it was started, in seconds since 1970. */
  started: number;
  /** Offset where its output starts, in bytes. */
  start: number;
  /** Exit code; null while it is running, or if the shell did not report one. */
  code?: number | null;
  /** Offset where its output ends, in bytes; null while it is running. */
  end?: number | null;
  /** When it ended, in seconds since 1970; null while it is running. */
  ended?: number | null;
  /** Offset where the output after the command, such as the prompt, starts; null while it is running. */
  after?: number | null;
}

/**
 * Watch and use a desktop. The channel carries an RFB connection (RFC 6143) in both directions.
 *
 * All viewers share the desktop. The connection starts with the server's protocol version, and uses the security type None. Pointer, key, clipboard and size messages are dropped unless the viewer has the `write` right and the writer lease allows its input. A message that violates RFB ends the call with `protocol_error`. A lost connection cannot be resumed; attach again instead. At most 64 viewers can be attached (`limit_exceeded`).
 */
export interface DesktopAttach {
  /** Id of the desktop. */
  id?: string;
  /** The expected instance. If the desktop has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** The viewer's identity; null means a new viewer. */
  viewer?: ViewerProfile | null;
  /** Whether to drop this viewer's input even if the caller may send input. */
  read_only?: boolean;
}

/** The desktop has ended. */
export interface DesktopAttachResult {
  /** Number of bytes that the viewer sent. */
  sent: number;
  /** Number of bytes that were sent to the viewer. */
  received: number;
}

/** Move the mouse pointer and press and release a button. */
export interface DesktopClick {
  /** Id of the desktop. */
  id?: string;
  /** Key of the viewer sending the input; required while any viewer holds the writer lease. */
  viewer?: string | null;
  /** Distance from the left edge, in pixels. */
  x: number;
  /** Distance from the top edge, in pixels. */
  y: number;
  /** The button. */
  button?: "left" | "middle" | "right";
  /** Number of clicks; 2 is a double click. */
  count?: number;
  /** Keys to hold down during the click, in the same notation as in `desktop.key`; can be empty. */
  hold?: string;
}

/** Read or set a desktop's clipboard. */
export interface DesktopClipboard {
  /** Id of the desktop. */
  id?: string;
  /** Key of the viewer sending the input; required while any viewer holds the writer lease. */
  viewer?: string | null;
  /** The new text, up to 200,000 characters; null leaves the clipboard unchanged. */
  text?: string | null;
}

/** A desktop's clipboard. */
export interface DesktopClipboardResult {
  /** Its text, possibly empty. */
  text: string;
}

/** Drag with the mouse: press a button at the first point, move through the others, and release it at the last. */
export interface DesktopDrag {
  /** Id of the desktop. */
  id?: string;
  /** Key of the viewer sending the input; required while any viewer holds the writer lease. */
  viewer?: string | null;
  /** The points. */
  path: Point[];
  /** The button. */
  button?: "left" | "middle" | "right";
}

/** A desktop. */
export interface DesktopInfo {
  /** Id of the desktop. */
  id: string;
  /** Unique id for this instance of the desktop; a desktop started later with the same `id` gets a new one. */
  instance: string;
  /** Width, in pixels. */
  width: number;
  /** Height, in pixels. */
  height: number;
  /** Resolution that programs see, in pixels per inch. */
  dpi: number;
  /** Value of `DISPLAY` for programs that open windows on it. */
  display: string;
  /** Value of `XAUTHORITY` for these programs: the path of the file with the display's secret. */
  xauthority: string;
  /** When it was started, in seconds since 1970. */
  started: number;
  /** Number of channels attached to it. */
  viewers: number;
  /** Whether its window manager is ready. If the window manager exits, it is restarted, at most 5 times per minute. Without one, windows have no frames and cannot be moved. */
  window_manager?: boolean;
}

/**
 * Press a key, or several at once, such as `ctrl+shift+t`.
 *
 * A key is named by its character, its X11 name (`Return`, `Page_Down`, `F5`) or a common name (`enter`, `esc`, `ctrl`, `cmd`), in upper or lower case. For an unknown name, the error is `invalid_params`.
 */
export interface DesktopKey {
  /** Id of the desktop. */
  id?: string;
  /** Key of the viewer sending the input; required while any viewer holds the writer lease. */
  viewer?: string | null;
  /** Key names joined with `+`; the `+` key itself is named `plus`. */
  keys: string;
  /** Number of times to press them. */
  count?: number;
}

/** Start a program on a desktop, in the same way as `process.start`. The program ends when the desktop does. */
export interface DesktopLaunch {
  /** The program and its arguments. */
  argv?: string[] | null;
  /** A command line for a shell: bash, or /bin/sh if bash is missing. */
  command?: string | null;
  /** Directory to start in, relative to the workspace; null means the workspace. */
  cwd?: string | null;
  /** Variables to add to the environment; a null value removes the variable. */
  env?: Record<string, string | null> | null;
  /** Whether stdin accepts input; otherwise, it is /dev/null. */
  stdin?: boolean | null;
  /** Time limit in seconds. If it is exceeded, all of the program's processes are killed. Null means no limit. */
  timeout?: number | null;
  /** Id of the desktop. */
  desktop?: string;
}

/** Change which viewers may send input to a desktop, as `terminal.lease` does for a terminal. */
export interface DesktopLease {
  /** Id of the desktop. */
  id?: string;
  /** The action to take. */
  action: "ask" | "exclusive" | "free" | "give" | "keep" | "release" | "take" | "withdraw";
  /** Key of the viewer taking the action; can be null only for `release` and `free`. */
  viewer?: string | null;
  /** Public id of another viewer. For `give`, the next holder (required); for `keep`, the viewer whose request to refuse, or null to refuse all requests. */
  to?: string | null;
  /** The epoch that the lease must have; null means any. */
  epoch?: number | null;
}

/** List the running desktops, and report whether the sandbox has the programs needed to start one. */
export type DesktopList = Record<string, never>;

/** Desktops. */
export interface DesktopListResult {
  /** The running desktops. */
  desktops: DesktopInfo[];
  /** Why desktops cannot be started, and how to install missing programs; null if they can be started. */
  problem?: string | null;
}

/** Move the mouse pointer. */
export interface DesktopMove {
  /** Id of the desktop. */
  id?: string;
  /** Key of the viewer sending the input; required while any viewer holds the writer lease. */
  viewer?: string | null;
  /** Distance from the left edge, in pixels. */
  x: number;
  /** Distance from the top edge, in pixels. */
  y: number;
}

/** After this event, the channel carries the bytes of an RFB connection (RFC 6143) with the security type None. */
export interface DesktopOpened {
  /** The desktop. */
  desktop: DesktopInfo;
  /** Public id of this viewer. */
  viewer: string;
  /** Whether all input from this viewer is dropped. */
  read_only: boolean;
  /** All viewers. */
  presence: Participant[];
  /** The viewers that may send input. */
  lease: WriterLease;
}

/** Change the size of a desktop. */
export interface DesktopResize {
  /** Id of the desktop. */
  id?: string;
  /** Key of the viewer sending the input; required while any viewer holds the writer lease. */
  viewer?: string | null;
  /** Width, in pixels. */
  width: number;
  /** Height, in pixels. A desktop can have at most 8,294,400 pixels in total. */
  height: number;
}

/**
 * Take a screenshot of a desktop, including the mouse pointer, and stream the image file.
 *
 * JPEG and WebP require the Python package Pillow in the runtime's environment; if it is missing, the error is `unavailable`. PNG does not require it. At most 16 screenshots of a desktop can be in progress (`limit_exceeded`).
 */
export interface DesktopScreenshot {
  /** Id of the desktop. */
  id?: string;
  /** The image format. */
  format?: "jpeg" | "png" | "webp";
  /** Quality of a JPEG or WebP image. */
  quality?: number;
  /** The part of the desktop to capture, clipped to the desktop's edges. Null captures the whole desktop. */
  region?: Region | null;
}

/** The whole image has been sent. */
export interface DesktopScreenshotResult {
  /** The image format. */
  format: "jpeg" | "png" | "webp";
  /** Image width, in pixels. */
  width: number;
  /** Image height, in pixels. */
  height: number;
  /** Size of the image, in bytes. */
  size: number;
}

/** Move the mouse pointer and turn the wheel. */
export interface DesktopScroll {
  /** Id of the desktop. */
  id?: string;
  /** Key of the viewer sending the input; required while any viewer holds the writer lease. */
  viewer?: string | null;
  /** Distance from the left edge, in pixels. */
  x: number;
  /** Distance from the top edge, in pixels. */
  y: number;
  /** Steps to the right, or to the left if negative. */
  dx?: number;
  /** Steps down, or up if negative. */
  dy?: number;
}

/** The size of a desktop. */
export interface DesktopSize {
  /** Width, in pixels. */
  width: number;
  /** Height, in pixels. */
  height: number;
}

/**
 * Start a desktop: a virtual screen with a window manager. If one with this id is running, return it unchanged.
 *
 * The sandbox must have the programs `Xvnc` (from TigerVNC) and `openbox`. If they are missing, the error is `unavailable`, and its message explains how to install them. No network port is opened. If the desktop is already starting, the error is `conflict`. At most 4 desktops can run at a time (`limit_exceeded`), each with at most 8,294,400 pixels.
 */
export interface DesktopStart {
  /** Id of the desktop. */
  id?: string;
  /** Width, in pixels. */
  width?: number;
  /** Height, in pixels. */
  height?: number;
  /** Resolution in pixels per inch. */
  dpi?: number;
}

/** The desktop with the requested id. */
export interface DesktopStartResult {
  /** Id of the desktop. */
  id: string;
  /** Unique id for this instance of the desktop; a desktop started later with the same `id` gets a new one. */
  instance: string;
  /** Width, in pixels. */
  width: number;
  /** Height, in pixels. */
  height: number;
  /** Resolution that programs see, in pixels per inch. */
  dpi: number;
  /** Value of `DISPLAY` for programs that open windows on it. */
  display: string;
  /** Value of `XAUTHORITY` for these programs: the path of the file with the display's secret. */
  xauthority: string;
  /** When it was started, in seconds since 1970. */
  started: number;
  /** Number of channels attached to it. */
  viewers: number;
  /** Whether its window manager is ready. If the window manager exits, it is restarted, at most 5 times per minute. Without one, windows have no frames and cannot be moved. */
  window_manager?: boolean;
  /** Whether it was started by this call. */
  created: boolean;
}

/** End a desktop and all programs started on it. */
export interface DesktopStop {
  /** Id of the desktop. */
  id?: string;
}

/** Type text into the active window. A line feed presses the Return key, and a tab the Tab key. */
export interface DesktopType {
  /** Id of the desktop. */
  id?: string;
  /** Key of the viewer sending the input; required while any viewer holds the writer lease. */
  viewer?: string | null;
  /** The text. For control characters other than tab and line feed, the error is `invalid_params`. */
  text: string;
}

/** A program's window. */
export interface DesktopWindow {
  /** The window's number on the X server. */
  id: number;
  /** Its title, up to 256 characters. */
  title: string;
  /** Name of the program, from `WM_CLASS`; can be empty. */
  name: string;
  /** Process id, as seen by the program; null if unknown. */
  pid?: number | null;
  /** Distance from the desktop's left edge to the window's content, in pixels. */
  x: number;
  /** Distance from the desktop's top edge to the window's content, in pixels. */
  y: number;
  /** Width of the content, in pixels. */
  width: number;
  /** Height of the content, in pixels. */
  height: number;
  /** Whether it has the keyboard focus. */
  active: boolean;
  /** Whether it is minimized. */
  minimized: boolean;
}

/** List the program windows on a desktop. */
export interface DesktopWindows {
  /** Id of the desktop. */
  id?: string;
}

/** Program windows on a desktop. */
export interface DesktopWindowsResult {
  /** At most 200 windows, in stacking order from bottom to top. */
  windows: DesktopWindow[];
}

/**
 * Histogram of the time between input to a terminal and its next output.
 *
 * The upper bounds of the buckets are 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500 and 1,000 ms. The last bucket has no upper bound.
 */
export interface EchoHistogram {
  /** Number of measurements in each bucket, not cumulative. */
  counts: number[];
  /** Sum of all measurements, in seconds. */
  seconds: number;
}

/** Return a sandbox's egress rules and latest refusals, without starting the sandbox. */
export interface EgressGet {
  /** Id of the sandbox. */
  id: string;
}

/** A sandbox's egress rules, and its proxy's statistics since startup. */
export interface EgressInfo {
  /** Id of the sandbox. */
  id: string;
  /** Whether its network is `filtered`. If not, there is no proxy. */
  filtered?: boolean;
  /** Rules for allowed connections. */
  allow?: string[];
  /** Rules for refused connections, which take precedence over `allow`. */
  deny?: string[];
  /** Names of the secrets added to requests. */
  secrets?: string[];
  /** Names of secrets in its policy that are no longer added to requests because its user may not use them. */
  withheld?: string[];
  /** Whether its proxy is running. If not, the fields below are 0 or empty. */
  running?: boolean;
  /** Number of open connections from programs to the proxy. */
  connections?: number;
  /** Number of requests forwarded. */
  requests?: number;
  /** Number of requests refused. */
  refused?: number;
  /** Size of the request content sent, in bytes. */
  sent?: number;
  /** Size of the response content received, in bytes. */
  received?: number;
  /** Processor time used by the proxy, in seconds. */
  cpu?: number;
  /** The proxy's resident memory, in bytes. */
  memory?: number;
  /** The latest refusals, newest last. Older ones are in the audit log. */
  recent?: EgressRefusal[];
}

/** Refusals that were not reported because the client was too slow. */
export interface EgressLost {
  /** Number of refusals missed since the previous event. */
  count: number;
}

/** Rules for connections. A host is refused unless a rule allows it. */
export interface EgressPolicy {
  /** Rules `[METHODS ]HOST[:PORT]`, such as `GET,HEAD *.example.org:443`. Without a port, a rule applies to ports 80 and 443. */
  allow?: string[];
  /** Rules in the same format, which take precedence over `allow`. Without a port, a rule applies to all ports. */
  deny?: string[];
  /** Names of the gateway's secrets that the proxy adds to requests. */
  secrets?: string[];
}

/** A program's request that the proxy refused. */
export interface EgressRefusal {
  /** When it was sent, in seconds since 1970. */
  time: number;
  /** Why it was refused; docs/guides/egress.md explains each value. */
  reason: "address" | "encoding" | "method" | "mismatch" | "name" | "protocol" | "rule" | "upgrade";
  /** The host, if known; at most 253 characters. */
  host?: string;
  /** The port; 0 if unknown. */
  port?: number;
  /** The method; `WEBSOCKET` for a WebSocket handshake; empty if unknown. */
  method?: string;
}

/** A program's request and the proxy's decision. */
export interface EgressRequest {
  /** When it was sent, in seconds since 1970. */
  time: number;
  /** Whether it was forwarded. */
  allowed?: boolean;
  /** Why it was refused; null if it was forwarded. */
  reason?: "address" | "encoding" | "method" | "mismatch" | "name" | "protocol" | "rule" | "upgrade" | null;
  /** The host, if known; at most 253 characters. */
  host?: string;
  /** The port; 0 if unknown. */
  port?: number;
  /** The method; `WEBSOCKET` for a WebSocket handshake; empty if unknown. */
  method?: string;
}

/**
 * Replace the egress rules for a sandbox that uses the `filtered` network. The sandbox can be running.
 *
 * When the call returns, the new rules apply to new connections, and open connections that they do not allow are closed. If the sandbox is running but its proxy cannot be reached, the rules are stored and the error is `unavailable`.
 */
export interface EgressSet {
  /** Id of the sandbox. */
  id: string;
  /** Rules `[METHODS ]HOST[:PORT]` for allowed connections. */
  allow: string[];
  /** Rules in the same format, which take precedence over `allow`. */
  deny?: string[];
  /** Names of the gateway's secrets to add to requests; null leaves them unchanged. */
  secrets?: string[] | null;
}

/**
 * Report requests from a sandbox's programs as its proxy allows or refuses them.
 *
 * The latest refusals are sent first, then `live`, then each new refusal. `lost` reports how many refusals a slow client has missed. The call continues even if the sandbox is stopped and restarted, until the caller cancels it or the sandbox is deleted.
 */
export interface EgressWatch {
  /** Id of the sandbox. */
  id: string;
  /** Whether to report allowed requests as well. */
  allowed?: boolean;
}

/** Restrictions enforced on a sandbox's programs. */
export interface Enforcement {
  /** The network that they can reach. */
  network?: "filtered" | "host" | "none" | "private";
  /** Whether they run as a dedicated user, which no other program on the machine uses. */
  user?: boolean;
  /** Whether they can neither see nor signal the sandbox's runtime, nor read its files. */
  separated?: boolean;
  /** Whether their system calls are filtered (seccomp). */
  system_calls?: boolean;
  /** Whether in-memory file systems, such as /tmp, are limited in size. */
  memory_files?: boolean;
  /** Their total resource limits; null means unlimited. */
  limits?: SandboxLimits;
}

/**
 * Run a command to its end and stream its output.
 *
 * The call returns once the command itself has exited; background processes continue, and their output is dropped. `cancel` does not end the command. If the time limit is exceeded, the exit code is 124.
 *
 * With an idempotency key, a repeated call joins the command: `since` and `input` continue its streams. Without one, stdin ends with the connection.
 */
export interface Exec {
  /** The program and its arguments. */
  argv?: string[] | null;
  /** A command line for a shell: bash, or /bin/sh if bash is missing. */
  command?: string | null;
  /** Directory to start in, relative to the workspace; null means the workspace. */
  cwd?: string | null;
  /** Variables to add to the environment; a null value removes the variable. */
  env?: Record<string, string | null> | null;
  /** Whether stdin accepts input; otherwise, it is /dev/null. */
  stdin?: boolean | null;
  /** Time limit in seconds. If it is exceeded, all of the program's processes are killed. Null means no limit. */
  timeout?: number | null;
  /** Maximum number of bytes to send from the start of each stream. Null means all bytes. */
  max_output?: number | null;
  /** For a repeated call: the offset of the first byte to send, for each stream. Null means 0. */
  since?: Since | null;
  /** Id of the input stream, which a repeated call must reuse; null if there is no input. */
  input?: string | null;
}

/** A command has ended. */
export interface ExecResult {
  /** Exit code; null if a signal ended the program. 124 if its time limit was exceeded. */
  code?: number | null;
  /** Name of the signal that ended it, such as `SIGKILL`; null if it exited. */
  signal?: string | null;
  /** Whether it was killed because its time limit was exceeded. */
  timed_out?: boolean;
  /** Whether the kernel killed it because memory ran out; null if unknown. In an isolated sandbox, files in `/tmp` and `/dev/shm` count as memory. */
  oom?: boolean | null;
  /** Length of stdout, in bytes. */
  stdout: number;
  /** Length of stderr, in bytes. */
  stderr: number;
  /** Whether a stream was longer than `max_output`, so that only its start was sent. */
  truncated?: boolean;
  /** How long it ran, in seconds; null if the runtime is too old to report it. */
  duration?: number | null;
}

/** How a program ended: with an exit code or by a signal. */
export interface Exit {
  /** Exit code; null if a signal ended the program. 124 if its time limit was exceeded. */
  code?: number | null;
  /** Name of the signal that ended it, such as `SIGKILL`; null if it exited. */
  signal?: string | null;
  /** Whether it was killed because its time limit was exceeded. */
  timed_out?: boolean;
  /** Whether the kernel killed it because memory ran out; null if unknown. In an isolated sandbox, files in `/tmp` and `/dev/shm` count as memory. */
  oom?: boolean | null;
}

/** A preview of a port. */
export interface ExposedPort {
  /** The port number. */
  port: number;
  /** Secret that gives access to this port. It stays valid until the preview is revoked or the runtime exits. */
  token: string;
  /** Display name of the preview, if any. */
  name?: string | null;
}

/**
 * Stream a directory or file as an archive.
 *
 * The archive is created on the fly, so the download cannot be resumed. Symlinks remain symlinks. Unreadable files are skipped, and a file that shrinks is padded with zeros. A zip archive can have at most 100,000 entries (`too_large`).
 */
export interface FileArchive {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** Format of the archive. */
  format?: "tar" | "tar.gz" | "zip";
  /** Globs for files to include. A glob without a slash matches names at any depth. Null includes all files. */
  include?: string[] | null;
  /** Globs for files and directories to exclude. Null excludes nothing. */
  exclude?: string[] | null;
}

/** The archive is being sent. */
export interface FileArchiveOpened {
  /** A suitable file name for the archive. */
  name: string;
}

/** The archive is complete. */
export interface FileArchiveResult {
  /** Size of the archive, in bytes. */
  bytes: number;
  /** Number of entries in the archive. */
  files: number;
  /** Number of paths that are missing or incomplete in the archive because they could not be read. */
  failed: number;
  /** Number of sockets and devices skipped. */
  skipped: number;
}

/** Abort an upload. It is not an error if the upload has already received all its input, has ended or never existed. */
export interface FileCancel {
  /** The idempotency key of the `file.write` call. */
  key: string;
}

/** Set the permission bits of a file or directory. */
export interface FileChmod {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** Permission bits. */
  mode: number;
}

/**
 * Copy a file, symlink or directory.
 *
 * Modes, timestamps, symlinks and, where allowed, owners are preserved. The copy appears at `to` once it is complete. A directory never replaces an existing path.
 */
export interface FileCopy {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** The path of the copy, resolved in the same way as `path`. */
  to: string;
  /** Whether to copy a directory and everything in it. If false and the path is a directory, the error is `is_directory`. */
  recursive?: boolean;
  /** Whether a file can replace an existing file. If false and `to` exists, the error is `conflict`. */
  overwrite?: boolean;
}

/** The copy is complete. */
export interface FileCopyResult {
  /** Number of files copied. */
  files: number;
  /** Total size of the files copied, in bytes, including holes. */
  bytes: number;
  /** Number of sockets and devices skipped. */
  skipped: number;
}

/**
 * Delete a file, symlink or directory; symlinks are not followed.
 *
 * If a path below a directory cannot be deleted, the call stops there, and `details.path` names that path.
 */
export interface FileDelete {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** Whether to delete a directory and everything in it. If false and the path is a directory, the error is `is_directory`. */
  recursive?: boolean;
}

/** The path was deleted. */
export interface FileDeleteResult {
  /** Number of files and directories deleted. */
  deleted: number;
}

/**
 * Replace strings in a file or apply a patch to it. Either all changes are applied, or none are.
 *
 * Set exactly one of `edits` and `patch`. If an edit's `old` text does not occur, or occurs more than once and `all` is not set, the error is `conflict`, with the index of the edit (`edit`) and the number of occurrences (`found`) in `details`. If the lines of a hunk are neither at the stated line nor at exactly one other line, the error is `conflict`, with the hunk's index (`hunk`) and the number of places where it matches (`found`) in `details`. If the file does not have the version `if_version`, or is changed during the call, the error is also `conflict`. The maximum file size is 16 MiB.
 */
export interface FileEdit {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** Replacements, applied in order. */
  edits?: TextEdit[] | null;
  /** A unified diff of this file. File names in it are ignored. */
  patch?: string | null;
  /** The version that the file must have; null means any. */
  if_version?: string | null;
}

/** The file was changed. */
export interface FileEditResult {
  /** Size of the file, in bytes. */
  bytes: number;
  /** Its version. */
  version: string;
  /** Number of changes made: strings replaced or hunks applied. */
  replaced: number;
}

/** A batch of directory entries. */
export interface FileEntries {
  /** The entries; their paths are relative to the listed directory. */
  entries: FileEntry[];
}

/** A file, a directory or another directory entry. */
export interface FileEntry {
  /** Path of the entry. */
  path: string;
  /** Type of the entry. */
  type: "device" | "directory" | "fifo" | "file" | "socket" | "symlink";
  /** Size, in bytes. */
  size: number;
  /** Permission bits. */
  mode: number;
  /** Modification time, in seconds since 1970. */
  mtime: number;
  /** User id of the owner. */
  uid?: number;
  /** Group id of the owning group. */
  gid?: number;
  /** Target of a symlink that was not followed; null otherwise. */
  target?: string | null;
  /** Exact modification time, in nanoseconds since 1970. */
  mtime_ns?: number | null;
  /** Disk space allocated, in bytes; less than `size` for a file with holes. Null if the server does not report it. */
  allocated?: number | null;
}

/**
 * Check whether a path exists, and return its type.
 *
 * Unless `follow` is false, a dangling symlink counts as missing.
 */
export interface FileExists {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** Whether to follow a symlink instead of checking for the symlink itself. */
  follow?: boolean;
}

/** Whether a path exists. */
export interface FileExistsResult {
  /** Whether there is a file, directory or other entry at the path. */
  exists: boolean;
  /** Its type; null if it does not exist. */
  type?: "device" | "directory" | "fifo" | "file" | "socket" | "symlink" | null;
}

/**
 * Extract an archive file in the sandbox: zip, or tar, optionally compressed with gzip, bzip2, xz or zstd.
 *
 * Nothing is written outside `to`. If an entry is absolute, leaves `to` through `..` or a symlink, or is a symlink to a target outside `to`, the error is `permission_denied`, with the entry's name in `details.entry`. Owners and special permission bits such as set-user-ID are not restored. Files extracted before an error or cancellation are kept. If the archive is damaged, truncated or encrypted, the error is `invalid_params`. If it expands to more than 1 GiB and more than 200 times its size, the error is `too_large`. If the archive needs zstd and the runtime lacks it, the error is `unavailable`. If several entries have the same name, the last one wins.
 */
export interface FileExtract {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** The directory to extract to, which is created if it is missing; resolved like `path`. */
  to?: string;
  /** Whether to replace existing files. If false and a file already exists, the error is `conflict`. */
  overwrite?: boolean;
  /** Number of leading components to remove from each name. Entries with fewer components are skipped. */
  strip?: number;
  /** Maximum number of entries. If the archive has more, the error is `too_large`. */
  max_entries?: number;
  /** Maximum total size of the extracted files, in bytes. If it is exceeded, the error is `too_large`. */
  max_bytes?: number;
}

/** Progress of the extraction, sent a few times per second. */
export interface FileExtractProgress {
  /** Number of entries extracted. */
  entries: number;
  /** Number of bytes written to files. */
  bytes: number;
}

/** The archive was extracted. */
export interface FileExtractResult {
  /** Number of entries extracted. */
  entries: number;
  /** Number of bytes written to files. */
  bytes: number;
  /** Number of devices and FIFOs skipped. */
  skipped: number;
}

/** A path could not be read; the call continues with the others. */
export interface FileFailure {
  /** The path, relative to the path passed to the call. */
  path: string;
  /** The error code. */
  code: string;
  /** Human-readable description of the error. */
  message: string;
}

/**
 * List a directory in batches, in no particular order.
 *
 * Symlinks are listed but not followed. Directories nested more than 128 levels deep are not listed; they are reported as `failed` with the code `too_large`.
 */
export interface FileList {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** Whether to list subdirectories as well. */
  recursive?: boolean;
  /** Maximum number of levels to list with `recursive`; null means all. */
  depth?: number | null;
  /** Whether to include names that start with a dot. */
  hidden?: boolean;
  /** Globs for files to include. A glob without a slash matches names at any depth. Null includes all files. */
  include?: string[] | null;
  /** Globs for files and directories to exclude. Null excludes nothing. */
  exclude?: string[] | null;
}

/** The listing is complete. */
export interface FileListResult {
  /** Number of entries sent. */
  entries: number;
  /** Number of paths that couldn't be read. */
  failed: number;
}

/**
 * Create a directory.
 *
 * If the path exists, the error is `conflict`, unless it is a directory and `parents` is true.
 */
export interface FileMkdir {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** Whether to create missing parent directories and accept an existing directory. */
  parents?: boolean;
  /** Permission bits; null means 0777 minus the umask. */
  mode?: number | null;
}

/** The directory exists. */
export interface FileMkdirResult {
  /** Whether it was created by this call. */
  created: boolean;
}

/**
 * Rename a file or directory, or copy and delete it across file systems.
 *
 * Sockets and devices cannot be moved to another file system (`invalid_params`).
 */
export interface FileMove {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** The new path, resolved in the same way as `path`. */
  to: string;
  /** Whether to replace an existing file. */
  overwrite?: boolean;
}

/** The file is open for reading. */
export interface FileOpened {
  /** Size of the file, in bytes; 0 for files without a size, as in /proc. */
  size: number;
  /** Identifies the file's content by device, inode, size and modification time. */
  version: string;
  /** Permission bits. */
  mode: number;
  /** Modification time, in seconds since 1970. */
  mtime: number;
}

/**
 * Stream the bytes of a file, or part of it.
 *
 * Offsets in the byte stream are offsets in the file. Bytes appended during the call are not read. If the file does not have the requested version, or is truncated during the call, the error is `conflict`.
 */
export interface FileRead {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** Offset of the first byte to read; null means 0. */
  offset?: number | null;
  /** Number of bytes to read; null reads to the end. */
  length?: number | null;
  /** The version that the file must have; null means any. */
  version?: string | null;
}

/**
 * Rename a file or directory within its file system, atomically.
 *
 * If `to` exists and `overwrite` is false, the error is `conflict`. If `to` is on another file system, the error is `invalid_params`.
 */
export interface FileRename {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** The new path, resolved in the same way as `path`. */
  to: string;
  /** Whether to replace an existing file. */
  overwrite?: boolean;
}

/**
 * Find files by name, or find lines that match a pattern.
 *
 * Matches do not span lines. Binary files are skipped. Ignore files such as .gitignore have no effect. If the pattern's automaton is too large, the error is `too_large`.
 */
export interface FileSearch {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** Pattern to search for in files, in RE2 syntax; null finds the files themselves. */
  pattern?: string | null;
  /** Whether `pattern` is plain text rather than a regular expression. */
  literal?: boolean;
  /** Whether to ignore case. */
  ignore_case?: boolean;
  /** Whether to include names that start with a dot. */
  hidden?: boolean;
  /** Strings that a file's path must all contain, in any order and ignoring case. Null accepts any path. */
  words?: string[] | null;
  /** Globs for files to include. A glob without a slash matches names at any depth. Null includes all files. */
  include?: string[] | null;
  /** Globs for files and directories to exclude. Null excludes nothing. */
  exclude?: string[] | null;
  /** Maximum number of matches. */
  limit?: number;
}

/** The search is complete. */
export interface FileSearchResult {
  /** Number of matches sent. */
  matches: number;
  /** Whether there were more matches than the limit. */
  truncated: boolean;
  /** Number of paths that couldn't be read. */
  failed: number;
}

/** Describe a file or directory. */
export interface FileStat {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** Whether to follow a symlink instead of describing the symlink itself. */
  follow?: boolean;
  /** Whether to read the start of a file to fill in `mime` and `binary`. */
  detect?: boolean;
}

/** A file or directory. */
export interface FileStatResult {
  /** Path of the entry. */
  path: string;
  /** Type of the entry. */
  type: "device" | "directory" | "fifo" | "file" | "socket" | "symlink";
  /** Size, in bytes. */
  size: number;
  /** Permission bits. */
  mode: number;
  /** Modification time, in seconds since 1970. */
  mtime: number;
  /** User id of the owner. */
  uid?: number;
  /** Group id of the owning group. */
  gid?: number;
  /** Target of a symlink that was not followed; null otherwise. */
  target?: string | null;
  /** Exact modification time, in nanoseconds since 1970. */
  mtime_ns?: number | null;
  /** Disk space allocated, in bytes; less than `size` for a file with holes. Null if the server does not report it. */
  allocated?: number | null;
  /** Identifies the file's content. */
  version?: string | null;
  /** With `detect`: MIME type, such as `image/png`, detected from the name or, failing that, from the content. Null unless it is a file. */
  mime?: string | null;
  /** With `detect`: whether the content is not valid UTF-8 text. Null unless it is a file. */
  binary?: boolean | null;
}

/** Create a symlink. */
export interface FileSymlink {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** The path that the symlink points to. It is stored unchanged and doesn't have to exist. */
  target: string;
  /** Whether to replace an existing file or symlink, atomically. If false and the path exists, the error is `conflict`. */
  overwrite?: boolean;
}

/** The transfer is complete. */
export interface FileTransferResult {
  /** Number of bytes read or written. */
  bytes: number;
  /** Identifies the file's content. */
  version: string;
}

/** Set the modification time of a file, directory or symlink. */
export interface FileUtime {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** The time, in nanoseconds since 1970. */
  mtime_ns: number;
  /** Whether to follow a symlink instead of changing the symlink's own time. */
  follow?: boolean;
}

/**
 * Write the call's input to a file, replacing it atomically.
 *
 * The old file remains until all input has been received. The new file gets the old file's permission bits, unless `mode` is set, and the old file's owner where permitted. If the path is a symlink, its target is replaced.
 *
 * With an idempotency key, an upload that loses its connection waits up to 30 seconds for a call that resumes it. If it is resumed, the earlier call ends with `interrupted`; otherwise, the upload ends with `cancelled`.
 */
export interface FileWrite {
  /** The file or directory. A relative path is resolved against `root` if set, or else against the workspace. */
  path: string;
  /** Directory that the path cannot leave; null means the root that the runtime was started with, if any. */
  root?: string | null;
  /** Id of a session. Relative paths are resolved against its current directory, not the workspace. If the session has ended, the error is `exited`. */
  session?: string | null;
  /** Id of the input stream, which every call that resumes the upload must reuse. */
  input: string;
  /** Permission bits; null keeps the bits of the replaced file. */
  mode?: number | null;
  /** Whether to create missing parent directories; null means true. */
  parents?: boolean | null;
  /** The version that the file must have; empty if it must not exist, null for any. If it differs, the error is `conflict`, with the actual `version` in `details`. */
  if_version?: string | null;
  /** Offset where writing in place starts; 0 creates the file if it is missing. If the file is shorter, the error is `conflict`. Null replaces the file. */
  offset?: number | null;
  /** Modification time to set, in nanoseconds since 1970; null means the current time. */
  mtime_ns?: number | null;
  /** Whether to turn blocks of zeros into holes. */
  sparse?: boolean;
}

/** The upload has started or been resumed. */
export interface FileWriteOpened {
  /** Number of input bytes that have already been received. */
  input_offset?: number;
}

/** Stage files. Set exactly one of `paths` and `all`. */
export interface GitAdd {
  /** A directory in the repository, relative to the workspace unless it is absolute. */
  path?: string;
  /** Paths to stage, taken literally. */
  paths?: string[] | null;
  /** Whether to stage all changes, including deletions. */
  all?: boolean;
}

/** Author and committer for a commit. */
export interface GitAuthor {
  /** Name of the person. */
  name: string;
  /** E-mail address of the person. */
  email: string;
}

/**
 * List the branches, after creating or deleting one if requested.
 *
 * The error is `conflict` if the branch to create already exists, or if the branch to delete is in use or not merged.
 */
export interface GitBranch {
  /** A directory in the repository, relative to the workspace unless it is absolute. */
  path?: string;
  /** Name of a branch to create. */
  create?: string | null;
  /** Name of a branch to delete. */
  delete?: string | null;
  /** Commit to create the branch at; null means the current one. */
  start?: string | null;
  /** Whether to move an existing branch, or delete an unmerged one. */
  force?: boolean;
}

/** A branch. */
export interface GitBranchInfo {
  /** Name of the branch. */
  name: string;
  /** Hash of its commit. */
  commit: string;
  /** Name of its upstream branch; null if it has no upstream. */
  upstream?: string | null;
  /** Whether it is checked out. */
  current?: boolean;
  /** Whether it is a remote-tracking branch. */
  remote?: boolean;
}

/** The branches of a repository. */
export interface GitBranchResult {
  /** Name of the current branch; null if HEAD is detached. */
  current: string | null;
  /** The branches, local and remote-tracking. */
  branches: GitBranchInfo[];
  /** Whether there are more branches. */
  truncated?: boolean;
}

/** Cancel a clone. It is not an error if the clone has ended or never existed. */
export interface GitCancel {
  /** The idempotency key of the `git.clone` call. */
  key: string;
}

/**
 * Switch to a branch or commit, create a branch, or restore files.
 *
 * With `paths`, only these files are restored, from `ref` or the index, and the branch stays the same. If local changes would be lost, the error is `conflict`.
 */
export interface GitCheckout {
  /** A directory in the repository, relative to the workspace unless it is absolute. */
  path?: string;
  /** Branch or commit to switch to or restore from, or name of the branch to create; required unless `paths` is set. */
  ref?: string | null;
  /** Whether to create the branch `ref`. */
  create?: boolean;
  /** Commit to create the branch at; null means the current one. */
  start?: string | null;
  /** Paths to restore, taken literally; null switches to `ref` instead. */
  paths?: string[] | null;
}

/**
 * Clone a repository into a directory that does not exist or is empty.
 *
 * The directory appears once the clone is complete; if it fails, nothing is left behind. If the directory is not empty, the error is `conflict`.
 *
 * With an idempotency key, the clone continues for 60 seconds after its connection is lost, and a repeated call joins it. `git.cancel` ends it with `cancelled`.
 */
export interface GitClone {
  /** An http, https, ssh, git or file URL, `user@host:path`, or an absolute path. */
  url: string;
  /** Directory to clone into, relative to the workspace; null means the last part of the URL. */
  path?: string | null;
  /** Number of commits to fetch; null means all. */
  depth?: number | null;
  /** Branch or tag to check out; null means the remote's default. */
  branch?: string | null;
  /** Filter for a partial clone: `blob:none`, `blob:limit=N` or `tree:N`; null clones everything. */
  filter?: string | null;
  /** Credentials for the URL's host; null means none. */
  credentials?: GitCredentials | null;
  /** Time limit in seconds. If it is exceeded, git is killed and the error is `deadline_exceeded`. */
  timeout?: number;
}

/**
 * Commit the staged changes.
 *
 * If there is nothing to commit, the error is `conflict`.
 */
export interface GitCommit {
  /** A directory in the repository, relative to the workspace unless it is absolute. */
  path?: string;
  /** The commit message. */
  message: string;
  /** Author and committer; null means those configured in git. */
  author?: GitAuthor | null;
  /** Whether to stage changes to tracked files first. */
  all?: boolean;
  /** Whether to allow a commit without changes. */
  allow_empty?: boolean;
}

/** A commit. */
export interface GitCommitInfo {
  /** Hash of the commit. */
  commit: string;
  /** Hashes of its parents. */
  parents: string[];
  /** Name of the author. */
  author: string;
  /** E-mail address of the author. */
  email: string;
  /** When it was written, in seconds since 1970. */
  time: number;
  /** Name of the committer. */
  committer: string;
  /** E-mail address of the committer. */
  committer_email: string;
  /** When it was committed, in seconds since 1970. */
  committed: number;
  /** The full message, truncated to 64 KiB. */
  message: string;
}

/**
 * Credentials for http and https, which are sent only to the host of the URL or remote.
 *
 * They never appear in an argument, an environment variable, a file or a message.
 */
export interface GitCredentials {
  /** User name. The user name to use with a token depends on the host. */
  username?: string;
  /** Password or token. */
  password: string;
}

/**
 * Return differences as a patch.
 *
 * By default, the patch compares the index with the working tree. With `staged`, it compares the last commit with the index; with `base`, it compares that commit with the working tree or with `target`.
 */
export interface GitDiff {
  /** A directory in the repository, relative to the workspace unless it is absolute. */
  path?: string;
  /** Whether to compare the last commit with the index. */
  staged?: boolean;
  /** Commit to compare with; null means the index. */
  base?: string | null;
  /** Commit to compare `base` with; null means the working tree. */
  target?: string | null;
  /** Paths to compare, taken literally; null means all. */
  paths?: string[] | null;
  /** Maximum size of the patch in bytes. */
  limit?: number;
}

/** A patch. */
export interface GitDiffResult {
  /** The patch. Bytes that are not valid UTF-8 are replaced with U+FFFD. */
  text: string;
  /** Whether the patch was truncated at the limit. */
  truncated: boolean;
}

/** The commit and branch that a repository has checked out. */
export interface GitHead {
  /** Absolute path of the directory. */
  path: string;
  /** Hash of the commit; null before the first commit. */
  commit: string | null;
  /** Name of the branch; null if HEAD is detached. */
  branch: string | null;
}

/** List commits, newest first. */
export interface GitLog {
  /** A directory in the repository, relative to the workspace unless it is absolute. */
  path?: string;
  /** Branch or commit to start at; null means the current commit. */
  ref?: string | null;
  /** Maximum number of commits. */
  limit?: number;
  /** Number of commits to skip first. */
  skip?: number;
  /** Only commits that changed these paths; null means all. */
  paths?: string[] | null;
}

/** Commits. */
export interface GitLogResult {
  /** The commits, newest first. */
  commits: GitCommitInfo[];
  /** Whether commits are missing because the output was too large. */
  truncated?: boolean;
}

/** Progress of a clone. */
export interface GitProgress {
  /** Name of the phase, as git prints it, such as `Receiving objects`. */
  phase: string;
  /** Percentage of the phase that is complete. */
  percent: number;
  /** Number of objects or files completed. */
  done: number;
  /** Number of objects or files in the phase. */
  total: number;
  /** Number of bytes received; null if git does not print it. */
  received?: number | null;
}

/**
 * Fetch from a remote, then merge or rebase.
 *
 * After a merge conflict (error `conflict`), the repository stays in the conflicted state.
 */
export interface GitPull {
  /** A directory in the repository, relative to the workspace unless it is absolute. */
  path?: string;
  /** Name of the remote; null means `origin` if `branch` is set, or else the upstream's remote. */
  remote?: string | null;
  /** Remote branch; null means the upstream branch. */
  branch?: string | null;
  /** Whether to rebase rather than merge. */
  rebase?: boolean;
  /** Whether to allow only a fast-forward. */
  ff_only?: boolean;
  /** Credentials for the remote's host; null means none. */
  credentials?: GitCredentials | null;
  /** Time limit in seconds. If it is exceeded, git is killed and the error is `deadline_exceeded`. */
  timeout?: number;
}

/**
 * Push a branch to a remote.
 *
 * If the remote branch has commits that the local one doesn't, the error is `conflict`.
 */
export interface GitPush {
  /** A directory in the repository, relative to the workspace unless it is absolute. */
  path?: string;
  /** Name of the remote. */
  remote?: string;
  /** Name of the branch; null means the current one. */
  branch?: string | null;
  /** Whether to overwrite the remote branch, provided it hasn't changed since it was last fetched. */
  force?: boolean;
  /** Whether to set the remote branch as the upstream. */
  set_upstream?: boolean;
  /** Credentials for the remote's host; null means none. */
  credentials?: GitCredentials | null;
  /** Time limit in seconds. If it is exceeded, git is killed and the error is `deadline_exceeded`. */
  timeout?: number;
}

/** The result of a push. */
export interface GitPushResult {
  /** The refs pushed. */
  refs: GitPushedRef[];
}

/** The result of pushing one ref. */
export interface GitPushedRef {
  /** ` ` pushed, `+` forced, `*` new, `-` deleted, `=` unchanged, `!` refused. */
  status: " " | "!" | "*" | "+" | "-" | "=";
  /** The remote ref, such as `refs/heads/main`. */
  ref: string;
  /** Git's description of the result. */
  summary: string;
}

/** Return the branch, its upstream and the changed paths. */
export interface GitStatus {
  /** A directory in the repository, relative to the workspace unless it is absolute. */
  path?: string;
  /** Whether to list ignored files. */
  ignored?: boolean;
}

/**
 * A changed path.
 *
 * The letters are the same as in `git status --porcelain=v2`: `.` (unchanged), `M`, `T`, `A`, `D`, `R`, `C`, `U`, `?` and `!`.
 */
export interface GitStatusEntry {
  /** The path, relative to the top of the repository. */
  path: string;
  /** Letter for the change between the last commit and the index. */
  index: string;
  /** Letter for the change between the index and the working tree. */
  worktree: string;
  /** The original path of a renamed or copied file; null otherwise. */
  origin?: string | null;
}

/** The state of a repository. */
export interface GitStatusResult {
  /** Name of the branch; null if HEAD is detached. */
  branch?: string | null;
  /** Hash of the commit; null before the first commit. */
  commit?: string | null;
  /** Name of the upstream branch; null if the branch has no upstream. */
  upstream?: string | null;
  /** Number of local commits missing from the upstream; null if unknown. */
  ahead?: number | null;
  /** Number of upstream commits missing locally; null if unknown. */
  behind?: number | null;
  /** The changed paths, at most 10,000. */
  entries?: GitStatusEntry[];
  /** Whether there are more entries. */
  truncated?: boolean;
}

/** An image on this gateway's machine or cluster. */
export interface ImageInfo {
  /** Id of the image. */
  id: string;
  /** Its names, including tags. */
  names?: string[];
  /** Total size of its files, in bytes. */
  size?: number;
  /** When it was built, in seconds since 1970; null if unknown. */
  created?: number | null;
}

/** List a provider's local images. */
export interface ImageList {
  /** Name of the provider; null means the default provider. If this provider does not use images, the error is `invalid_params`. */
  provider?: string | null;
}

/** A provider's images. */
export interface ImageListResult {
  /** All local images, including those pulled by other programs. */
  images: ImageInfo[];
}

/** Progress of a pull. */
export interface ImageProgress {
  /** Human-readable details. */
  message?: string | null;
  /** The fraction completed, from 0 to 1; null if unknown. */
  progress?: number | null;
}

/**
 * Pull an image, or a newer version of a local image.
 *
 * If the image does not exist, the error is `invalid_params`. Concurrent calls for the same image share one pull, which is cancelled once all of them have been cancelled. After a cancellation, the provider keeps the parts already downloaded. At most 4 images are pulled at a time.
 */
export interface ImagePull {
  /** Name of the provider; null means the default provider. If this provider does not use images, the error is `invalid_params`. */
  provider?: string | null;
  /** Name of the image, with a tag or digest; the default tag is `latest`. */
  image: string;
}

/**
 * Remove one of an image's names. Removing the last one deletes the image's files.
 *
 * If a sandbox uses the image, the error is `conflict`.
 */
export interface ImageRemove {
  /** Name of the provider; null means the default provider. If this provider does not use images, the error is `invalid_params`. */
  provider?: string | null;
  /** Name of the image, with a tag or digest; the default tag is `latest`. */
  image: string;
}

/** The part of a stream that can still be read. */
export interface KeptRange {
  /** Offset of the first byte that is still kept. */
  start?: number;
  /** Offset where the stream ends, in bytes. */
  offset?: number;
}

/** Text or a pattern to search for in the output. Set exactly one of the two. */
export interface LogCondition {
  /** Plain text to search for. */
  text?: string | null;
  /** Regular expression in RE2 syntax. */
  pattern?: string | null;
  /** Stream to search; null means both. */
  stream?: "stderr" | "stdout" | null;
  /** Offsets where the search starts; null means all output that is still kept. */
  since?: Since | null;
}

/** A match for a string or pattern in a process's output. */
export interface LogMatch {
  /** Offset in the output where the match starts, in bytes. */
  start: number;
  /** Offset in the output where the match ends, in bytes. */
  end: number;
  /** The matched text, truncated to 4,096 bytes. */
  text: string;
  /** Text of each group in the pattern, truncated to 4,096 bytes; null for a group that did not match. */
  groups?: (string | null)[];
  /** Text of each named group in the pattern, as in `groups`. */
  named?: Record<string, string | null>;
  /** Whether `text` or a group was truncated. */
  truncated?: boolean;
  /** The stream that the offsets refer to. */
  stream: "stderr" | "stdout";
}

/**
 * Mount a bucket or a directory on the gateway's machine in a sandbox, and return once the mount can be used.
 *
 * Until it is deleted, the mount is restored whenever the sandbox starts. A file is uploaded about a second after a program has written and closed it. While the store does not respond, programs get the error EIO.
 */
export interface MountCreate {
  /** Id of the sandbox. It is started if it isn't running. */
  sandbox: string;
  /** Name of a bucket or directory in the gateway's settings, or of any bucket if `credentials` is set. */
  bucket: string;
  /** An empty or new directory below the workspace. */
  path: string;
  /** The root of the mount; only files below it are visible. */
  prefix?: string;
  /** Whether the mount is read-only. */
  read_only?: boolean;
  /** Credentials for a bucket in another store. Only users with every right may pass them. */
  credentials?: MountCredentials | null;
}

/** Credentials for a bucket that is not in the gateway's settings. The gateway never sends them to the sandbox. */
export interface MountCredentials {
  /** The access key id. */
  access_key_id: string;
  /** The secret access key. */
  secret_access_key: string;
  /** The session token, for temporary credentials. */
  session_token?: string | null;
  /** The URL of the store; null means Amazon S3. */
  endpoint?: string | null;
  /** The bucket's region. */
  region?: string | null;
}

/**
 * Remove a mount from a sandbox, and return once all changes have been uploaded. The bucket's content is kept.
 *
 * For an overlay, the changes are deleted and the backup is kept. A sleeping sandbox is started first; if the sandbox is stopped or paused, the error is `stopped`.
 *
 * If the uploads take longer than `timeout`, the error is `unavailable`, with the number of remaining files in `details.pending`. The uploads continue, and the mount is deleted once they are complete.
 */
export interface MountDelete {
  /** Id of the sandbox. */
  sandbox: string;
  /** Id of the mount. */
  mount: string;
  /** Whether to remove the mount even if programs are using its files. If false, the error in that case is `conflict`. */
  force?: boolean;
  /** Whether to discard changes that haven't been uploaded yet. */
  discard?: boolean;
  /** Maximum number of seconds to wait for the uploads. */
  timeout?: number;
}

/** A mount. */
export interface MountInfo {
  /** Its id. */
  id: string;
  /** The sandbox. */
  sandbox: string;
  /** The mount point, relative to the workspace. */
  path: string;
  /** Name of the bucket or directory; null for an overlay. */
  bucket?: string | null;
  /** Id of the backup under the overlay (`backup.restore`); null for other mounts. */
  backup?: string | null;
  /** Path of the mounted part, relative to the part of the bucket or directory that the gateway exposes. */
  prefix?: string;
  /** Whether the mount is read-only. */
  read_only?: boolean;
  /** Id of the user that created it. */
  owner?: string | null;
  /** When it was created, in seconds since 1970. */
  created?: number;
  /** `mounted`; `waiting` until the sandbox is running; `failed` until a retry succeeds; `deleting` while changes are uploaded. */
  state?: "deleting" | "failed" | "mounted" | "waiting";
  /** Why it failed; null if it did not. */
  reason?: string | null;
  /** Number of files written but not uploaded yet. */
  pending?: number;
}

/** List a sandbox's mounts without starting it. */
export interface MountList {
  /** Id of the sandbox. */
  sandbox: string;
}

/** A sandbox's mounts. */
export interface MountListResult {
  /** The mounts, sorted by path. */
  mounts: MountInfo[];
}

/** An empty result: the call succeeded. */
export type Nothing = Record<string, never>;

/** A TCP port that a program in the sandbox is listening on. */
export interface OpenPort {
  /** The port number. */
  port: number;
  /** Addresses that the program is listening on. */
  addresses: string[];
  /** Process id of the program. */
  pid: number;
  /** Name of the program. */
  process: string;
  /** Whether the port has a preview. */
  exposed?: boolean;
}

/** A pattern's match in output. */
export interface OutputMatch {
  /** Offset in the output where the match starts, in bytes. */
  start: number;
  /** Offset in the output where the match ends, in bytes. */
  end: number;
  /** The matched text, truncated to 4,096 bytes. */
  text: string;
  /** Text of each group in the pattern, truncated to 4,096 bytes; null for a group that did not match. */
  groups?: (string | null)[];
  /** Text of each named group in the pattern, as in `groups`. */
  named?: Record<string, string | null>;
  /** Whether `text` or a group was truncated. */
  truncated?: boolean;
}

/** A viewer, as seen by the other viewers. */
export interface Participant {
  /** The viewer's public id, such as `v3`. */
  id: string;
  /** Display name, 1 to 40 characters, with no control or format characters. */
  name: string;
  /** The viewer's color, `#rrggbb`. Dark text is readable on it. */
  color: string;
  /** Whether it is a person or an agent. */
  kind: "agent" | "person";
  /** Whether it is not allowed to type. */
  read_only: boolean;
  /** Whether it is typing; reset 2 seconds after the last keystroke. */
  typing: boolean;
  /** Whether the viewer's user is looking at the terminal. */
  focus: boolean;
  /** The cell that the viewer's pointer is on; null if the pointer is hidden. */
  at?: PointerPosition | null;
  /** Whether it uses a share link. Guests choose their own names unless the link has one. */
  guest?: boolean;
  /** Whether it is asking the holder for the writer lease; reset after 60 seconds without a reply. */
  asks?: boolean;
  /** Whether its last request for the lease expired without a reply; reset when it asks again or the lease changes. */
  unanswered?: boolean;
  /** Number of rows the viewer's user has scrolled back; 0 at the end of the output. */
  scroll?: number;
  /** The object the viewer's user is looking at, in the client's own notation; empty if unknown, or if the receiver may not see the whole sandbox. */
  view?: string;
}

/** A viewer has joined or changed. */
export interface ParticipantEvent {
  /** The viewer after the change. */
  viewer: Participant;
}

/** A viewer has left. */
export interface ParticipantLeft {
  /** Public id of the viewer. */
  id: string;
}

/** A pixel on a desktop. */
export interface Point {
  /** Distance from the left edge, in pixels. */
  x: number;
  /** Distance from the top edge, in pixels. */
  y: number;
}

/** A cell of the screen. */
export interface PointerPosition {
  /** Column, from 0. */
  x: number;
  /** Row, from 0. */
  y: number;
}

/**
 * Accept a connection reported by `port.listen`. Bytes are passed in both directions, as with `port.connect`.
 *
 * The error is `not_found` if the connection was already accepted or has waited too long, or if the call to `port.listen` has ended. If the connection broke, the error is `io_error`.
 */
export interface PortAccept {
  /** Id of the connection. */
  connection: string;
}

/** A TCP port on 127.0.0.1 or ::1 to wait for. Any program can open it. */
export interface PortCondition {
  /** The port number. */
  port: number;
  /** Path to request with HTTP GET until there is a response; if null, an open port is enough. */
  path?: string | null;
  /** Lowest and highest HTTP status accepted in the response. */
  status?: [number, number];
}

/**
 * Connect to a TCP port in the sandbox; bytes are passed in both directions.
 *
 * Set exactly one of `port` and `token`. Each half of the connection can be closed separately. The connection cannot be resumed: it breaks if the client disconnects or cancels the call. At most 1,024 connections can be open (`limit_exceeded`).
 *
 * The error is `unavailable` if no program is listening on the port; `forbidden` if the port belongs to a program outside the sandbox, or if the caller lacks the right to connect without a preview's token; `not_found` if the token is unknown or revoked; `io_error` if the connection broke.
 */
export interface PortConnect {
  /** The port number; requires the `operate` right. */
  port?: number | null;
  /** Token of a preview. */
  token?: string | null;
}

/** The program has closed its half of the connection; it can still read. */
export interface PortConnectEnd {
  /** Number of bytes that the program sent. */
  offset: number;
}

/** The connection is established. */
export interface PortConnectOpened {
  /** The port number. */
  port: number;
  /** Address the call is connected to. */
  address: string;
}

/** Both halves of the connection are closed, and all input has been written. */
export interface PortConnectResult {
  /** Number of bytes received from the program. */
  received: number;
  /** Number of bytes sent to the program. */
  sent: number;
}

/**
 * Create a preview of a port, or return the existing one.
 *
 * The port doesn't have to be open yet. If the port belongs to a program outside the sandbox, the error is `forbidden`. At most 256 ports can have previews (`limit_exceeded`). Previews survive a restart of the sandbox. The error is `conflict` if the port has a preview with another token, or another port has a preview with this token.
 */
export interface PortExpose {
  /** The port number. */
  port: number;
  /** Display name for a new preview. */
  name?: string | null;
  /** Token for a new preview, 8 to 40 lower-case letters and digits; null means a random one. Any client that knows the token can connect to the port. */
  token?: string | null;
}

/** List all previews. */
export type PortExposed = Record<string, never>;

/** A sandbox's previews. */
export interface PortExposedResult {
  /** All previews. */
  exposed: ExposedPort[];
}

/** A program has connected to the port. */
export interface PortIncoming {
  /** Id of the connection, to pass to `port.accept`. */
  connection: string;
  /** Address of the program, `HOST:PORT`. */
  address: string;
}

/** List the TCP ports that programs in the sandbox are listening on. */
export type PortList = Record<string, never>;

/** Open ports. */
export interface PortListResult {
  /** At most 1,000 ports, sorted by number. */
  ports: OpenPort[];
}

/**
 * Listen on a TCP port in the sandbox, and let the caller forward each connection to a target of its choice.
 *
 * When a program connects, the event `connection` is sent, and the connection waits 30 seconds for `port.accept`. At most 64 connections can wait at a time; the kernel queues any others. The port is open until the call ends; accepted connections continue. A later call by the same user for the same port replaces this call, which ends with `conflict`.
 *
 * The error is `conflict` if the port is in use, or `limit_exceeded` if 64 ports are already open.
 */
export interface PortListen {
  /** The port number, 1,024 or above; 0 means a free port. */
  port?: number;
}

/** The runtime is listening. */
export interface PortListening {
  /** The port number. */
  port: number;
  /** The address that programs in the sandbox can connect to. */
  address: string;
}

/**
 * Revoke the preview of a port and end its connections.
 *
 * It is not an error if the port has no preview.
 */
export interface PortUnexpose {
  /** The port number. */
  port: number;
}

/**
 * Report the open ports, now and after every change, until the call is cancelled.
 *
 * The runtime polls every 0.2 to 2 seconds, so it can miss ports that were open only briefly.
 */
export type PortWatch = Record<string, never>;

/** Return the parent domain of all preview host names. */
export type PreviewHost = Record<string, never>;

/** The domain used for preview host names. */
export interface PreviewHostResult {
  /** The parent domain of all preview host names; null if previews can only be reached by path. */
  host?: string | null;
}

/**
 * Follow the output of a process to its end, and send it input.
 *
 * `cancel` detaches; the process continues.
 */
export interface ProcessAttach {
  /** Id of the process, or of a running `exec` command. */
  id: string;
  /** The expected instance. If the process has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** For each stream, the offset of the first byte to send; null means 0. */
  since?: Since | null;
  /** Id of the input stream, which a reconnecting client must reuse; null for a channel without input. */
  input?: string | null;
  /** Whether the process is paused when the connection is lost, until a call with the same `input` attaches or 30 seconds have passed. Null means false. */
  lossless?: boolean | null;
}

/** A process has ended, and all its output has been sent. */
export interface ProcessAttachResult {
  /** How it ended. */
  exit: Exit;
  /** Length of stdout, in bytes. */
  stdout: number;
  /** Length of stderr, in bytes. */
  stderr: number;
}

/** Describe one process. */
export interface ProcessGet {
  /** Id of the process, or of a running `exec` command. */
  id: string;
}

/** A process. */
export interface ProcessInfo {
  /** Id of the process. */
  id: string;
  /** Unique id for this instance of the process; a process started later with the same `id` gets a new one. */
  instance: string;
  /** Process id. */
  pid: number;
  /** The program and its arguments; truncated to 256 characters in `process.list`. */
  argv?: string[];
  /** Directory where it was started. */
  cwd?: string;
  /** When it was started, in seconds since 1970. */
  started?: number;
  /** When it ended, in seconds since 1970; null while it is running, or if the runtime is too old to report it. */
  ended?: number | null;
  /** Id of the session that started it with `session.process`; null otherwise. */
  session?: string | null;
  /** Whether it is running. */
  state?: "exited" | "running";
  /** How it ended; null while it is running. */
  exit?: Exit | null;
  /** The part of stdout that can still be read. */
  stdout?: KeptRange;
  /** The part of stderr that can still be read. */
  stderr?: KeptRange;
}

/**
 * End a process and all its descendants, first with a signal, then with KILL.
 *
 * The call returns once all of them have exited. If the process itself has already ended, any descendants still running are ended.
 */
export interface ProcessKill {
  /** Id of the process, or of a running `exec` command. */
  id: string;
  /** The expected instance. If the process has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** The first signal; null means TERM. */
  signal?: string | number | null;
  /** Seconds to wait after the first signal before sending KILL; null means 5. */
  grace?: number | null;
}

/** A process and its descendants have ended. */
export interface ProcessKillResult {
  /** How the process ended. */
  exit: Exit;
}

/**
 * End all running processes, including `exec` commands, along with all their descendants.
 *
 * The call returns once all of them have exited. Sessions, terminals and code contexts continue.
 */
export interface ProcessKillall {
  /** Only processes started by this session; null means all. */
  session?: string | null;
  /** The first signal; null means TERM. */
  signal?: string | number | null;
  /** Seconds to wait after the first signal before sending KILL; null means 5. */
  grace?: number | null;
}

/** Processes and their descendants have ended. */
export interface ProcessKillallResult {
  /** Number of processes ended, not counting descendants. */
  killed: number;
}

/**
 * List running and ended processes in the order they were started.
 *
 * Running `exec` commands are listed last.
 */
export interface ProcessList {
  /** Id of the last process on the previous page; null means the first page. */
  after?: string | null;
  /** Maximum number of processes; null means 1,000. */
  limit?: number | null;
  /** Only processes started by this session; null means all. */
  session?: string | null;
}

/** A page of the process list. */
export interface ProcessListResult {
  /** The processes in the order they were started, followed by running `exec` commands. */
  processes: ProcessInfo[];
  /** Whether there are more processes. To get them, pass the last id as `after`. */
  more?: boolean;
}

/** The channel is attached to a process. */
export interface ProcessOpened {
  /** Id of the process. */
  id: string;
  /** Unique id for this instance of the process; a process started later with the same `id` gets a new one. */
  instance: string;
  /** Process id. */
  pid: number;
  /** The program and its arguments; truncated to 256 characters in `process.list`. */
  argv?: string[];
  /** Directory where it was started. */
  cwd?: string;
  /** When it was started, in seconds since 1970. */
  started?: number;
  /** When it ended, in seconds since 1970; null while it is running, or if the runtime is too old to report it. */
  ended?: number | null;
  /** Id of the session that started it with `session.process`; null otherwise. */
  session?: string | null;
  /** Whether it is running. */
  state?: "exited" | "running";
  /** How it ended; null while it is running. */
  exit?: Exit | null;
  /** The part of stdout that can still be read. */
  stdout?: KeptRange;
  /** The part of stderr that can still be read. */
  stderr?: KeptRange;
  /** For each stream, the offset of the first byte that will be sent; greater than `since` if older bytes were dropped. */
  from?: StreamOffsets;
  /** Number of bytes in this input stream that have already been applied. */
  input_offset?: number;
}

/**
 * Remove an ended process along with its output, or all ended processes.
 *
 * If `id` names a running process, the error is `conflict`.
 */
export interface ProcessRemove {
  /** Id of the process; null means all ended processes. */
  id?: string | null;
  /** The expected instance. If the process has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Without `id`: only remove processes started by this session. Null means all. */
  session?: string | null;
}

/** Ended processes were removed. */
export interface ProcessRemoveResult {
  /** Number of processes removed. */
  removed: number;
}

/** Send a signal to a process's process group. */
export interface ProcessSignal {
  /** Id of the process, or of a running `exec` command. */
  id: string;
  /** The expected instance. If the process has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Name of the signal, with or without `SIG`, or its number. */
  signal: string | number;
}

/**
 * Start a process that runs independently of the client's connection.
 *
 * If a process with this id is running, the error is `conflict`. If the program or directory does not exist, or the program is not executable, the error is `spawn_failed`. At most 4,096 programs can run at a time (`limit_exceeded`).
 *
 * The last 64 MiB of each stream are kept. The 256 processes that ended most recently are kept for 24 hours.
 */
export interface ProcessStart {
  /** The program and its arguments. */
  argv?: string[] | null;
  /** A command line for a shell: bash, or /bin/sh if bash is missing. */
  command?: string | null;
  /** Directory to start in, relative to the workspace; null means the workspace. */
  cwd?: string | null;
  /** Variables to add to the environment; a null value removes the variable. */
  env?: Record<string, string | null> | null;
  /** Whether stdin accepts input; otherwise, it is /dev/null. */
  stdin?: boolean | null;
  /** Time limit in seconds. If it is exceeded, all of the program's processes are killed. Null means no limit. */
  timeout?: number | null;
  /** Id of the process; null lets the server choose one. */
  id?: string | null;
}

/**
 * Wait for a process to end, for a match in its output or for a port to open.
 *
 * The wait ends at the first of these events. Set at least one of `exit`, `log` and `port`. If the process ends and `exit` is not requested, the error is `exited`. If the pattern is too expensive to match, the error is `too_large`.
 */
export interface ProcessWait {
  /** Id of the process, or of a running `exec` command. */
  id: string;
  /** The expected instance. If the process has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Whether to wait for the process to end; null means false. */
  exit?: boolean | null;
  /** Text or pattern to search for in the output; null means none. */
  log?: LogCondition | null;
  /** The port to wait for; null means none. */
  port?: PortCondition | null;
  /** Time limit in seconds. If it is exceeded, the result is `timeout`. Null means 30. */
  timeout?: number | null;
}

/** The wait has started. */
export interface ProcessWaitOpened {
  /** For each stream, the offset where the search starts; greater than `since` if older bytes were dropped. */
  from: StreamOffsets;
}

/** The event that ended a wait. */
export interface ProcessWaitResult {
  /** The condition that was met first, or `timeout`. */
  event: "exit" | "log" | "port" | "timeout";
  /** For `exit` events: how the process ended. */
  exit?: Exit | null;
  /** For `log` events: the match. */
  match?: LogMatch | null;
  /** For `port` events with a `path`: the HTTP status of the response. */
  status?: number | null;
}

/** A question for a terminal's users. */
export interface Question {
  /** Id of the question; unique in its sandbox. */
  id: string;
  /** Id of the terminal. */
  terminal: string;
  /** Instance of the terminal. */
  instance: string;
  /** The answer: a `line`, a `secret` line, a `choice`, `key` presses, or `takeover` of the terminal. */
  kind: "choice" | "key" | "line" | "secret" | "takeover";
  /** `claimed` while a person is working on it, `withdrawn` if the program is no longer waiting. */
  state?: "answered" | "claimed" | "expired" | "open" | "refused" | "withdrawn";
  /** A `caller` of `terminal.ask`, the `program` (`hawse-ask`), or the `runtime` for any program that reads a password. */
  source: "caller" | "program" | "runtime";
  /** Name of the caller who asks; null for other sources. */
  caller?: string | null;
  /** Why an answer is needed; null if it was asked without a reason. */
  reason?: string | null;
  /** The program's prompt; null if it has none. */
  prompt?: string | null;
  /** The waiting program and its arguments; null if unknown. */
  command?: string | null;
  /** The possible answers to a `choice`. */
  choices?: string[];
  /** When it was asked, in seconds since 1970. */
  asked: number;
  /** When it expires, in seconds since 1970; null if it does not expire. */
  expires?: number | null;
  /** Name of the person who has claimed, answered or refused it; otherwise null. */
  by?: string | null;
  /** When it ended, in seconds since 1970; null while it is open or claimed. */
  settled?: number | null;
  /** For a `secret` that is not settled: the public key for sealing the answer (docs/wire.md section 9). */
  seal?: string | null;
}

/** Options for recording a terminal from its start. */
export interface RecordOptions {
  /** Whether to record input as well, including passwords. */
  input?: boolean;
}

/** Delete a recording and its files. A recording in progress is ended first. */
export interface RecordingDelete {
  /** Id of the recording. */
  id: string;
}

/** Describe one recording. For a recording in progress, the values are current. */
export interface RecordingGet {
  /** Id of the recording. */
  id: string;
}

/** A recording: an asciicast v3 file, snapshots where playback can start, and an index of both. */
export interface RecordingInfo {
  /** Id of the recording. */
  id: string;
  /** Id of the recorded terminal; empty for a desktop. */
  terminal: string;
  /** Id of the recorded desktop; null for a terminal. */
  desktop?: string | null;
  /** Instance of the recorded terminal or desktop. */
  instance: string;
  /** Title, if any. */
  title?: string | null;
  /** Whether it contains input, which can include passwords. */
  input: boolean;
  /** Number of columns when it was started, or a desktop's width in pixels. */
  cols: number;
  /** Number of rows when it was started, or a desktop's height in pixels. */
  rows: number;
  /** When it was started, in seconds since 1970. */
  started: number;
  /** Whether it is in progress. */
  state: "finished" | "recording";
  /** Why it ended: `exited` if the program ended, `killed` if the runtime ended. Null while in progress. */
  reason?: "exited" | "io_error" | "killed" | "no_space" | "quota" | "stopped" | null;
  /** Human-readable details of the reason; can be empty. */
  message: string;
  /** Length of the recording, in seconds. */
  duration: number;
  /** Size of the asciicast file, in bytes. */
  size: number;
  /** Size of the snapshots, in bytes. */
  screens: number;
  /** Size of the index, in bytes. */
  index: number;
  /** Number of markers, at most 1,000. */
  markers: number;
  /** Number of bytes of output lost because the disk did not respond for 30 seconds. */
  lost: number;
  /** Whether part of it is missing. */
  truncated: boolean;
}

/** List recordings, newest first. */
export interface RecordingList {
  /** Only recordings of the terminal with this id; null means all. */
  terminal?: string | null;
}

/** Recordings. */
export interface RecordingListResult {
  /** The recordings; `recording.list` sorts them newest first. */
  recordings: RecordingInfo[];
}

/** Set a marker at the current time of a recording. */
export interface RecordingMark {
  /** Id of the recording. */
  id: string;
  /** The marker's text; can be empty. */
  label?: string;
}

/**
 * Stream one of a recording's files, as far as it has been written.
 *
 * Recordings with input require the `operate` right (`forbidden`). If the recording is deleted or changed during the call, the error is `conflict`.
 */
export interface RecordingRead {
  /** Id of the recording. */
  id: string;
  /** The file: `cast` for asciicast v3 (whole lines only), `screens` for the snapshots, or `index` for the index (docs/wire.md, section 9). */
  part?: "cast" | "index" | "screens";
  /** Offset of the first byte to read; null means 0. */
  offset?: number | null;
  /** Number of bytes to read; null means all. */
  length?: number | null;
}

/**
 * Start recording a terminal or a desktop. The recording starts with the current screen.
 *
 * If the id is in use, the error is `conflict`; if the disk is full, `no_space`; if there are too many recordings, `limit_exceeded`. The recording ends when the terminal or desktop does. A desktop recording ends after at most 4 hours.
 */
export interface RecordingStart {
  /** Id of the terminal to record; null to record a desktop. */
  terminal?: string | null;
  /** Id of the desktop to record; null to record a terminal. */
  desktop?: string | null;
  /** Id of the recording; null lets the server choose one. */
  id?: string | null;
  /** Whether to record the terminal's input as well, including passwords. */
  input?: boolean;
  /** Title, if any. */
  title?: string | null;
}

/**
 * End a recording, and return once all of it is on disk.
 *
 * A recording that has already ended is returned unchanged.
 */
export interface RecordingStop {
  /** Id of the recording. */
  id: string;
}

/**
 * Report the recordings in progress, now and after every change, until the call is cancelled.
 *
 * Changes that a slow client hasn't read yet are merged into one event.
 */
export interface RecordingWatch {
  /** Only recordings of the terminal with this id; null means all. */
  terminal?: string | null;
}

/** A rectangle on a desktop. */
export interface Region {
  /** Distance from the left edge, in pixels. */
  x: number;
  /** Distance from the top edge, in pixels. */
  y: number;
  /** Width, in pixels. */
  width: number;
  /** Height, in pixels. */
  height: number;
}

/**
 * Return how long the sandbox has been idle. Only a gateway can call this method.
 *
 * A sandbox is active while a process or command runs, while a terminal has a viewer, or while any call is open, except calls that only watch.
 */
export interface RuntimeActivity {
  /** Number of seconds of idleness before the runtime refuses calls, because it is about to be stopped; null means never. */
  sleep_after?: number | null;
}

/** Activity in a sandbox. */
export interface RuntimeActivityResult {
  /** Seconds since the last activity; 0 while the sandbox is active. */
  idle: number;
  /** Current activities, such as `process server`; at most 16 entries. */
  busy: string[];
  /** Whether the runtime is refusing calls because it has been idle for `sleep_after`. */
  asleep: boolean;
  /** Digests of its preview tokens (`hawse.api.ports.preview_digest`). */
  previews?: string[] | null;
}

/**
 * Replace the sandbox's configuration. Only a gateway can call this method.
 *
 * The environment applies to programs started after the call. A configuration with a lower revision than the current one is ignored.
 */
export interface RuntimeConfigure {
  /** Number that increases with each change to the configuration. */
  revision: number;
  /** Environment for all programs; a call's own `env` is added to it. */
  env?: Record<string, string>;
  /** Ports that have a preview, unless the preview has been revoked. */
  ports?: SandboxPort[];
  /** Content of text files, keyed by path in the workspace. Only the first configuration that has files writes them. */
  files?: Record<string, string>;
}

/** Describe the runtime and its load. */
export type RuntimeInfo = Record<string, never>;

/** A description of the runtime. */
export interface RuntimeInfoResult {
  /** Id of the running runtime, which changes each time it starts. */
  runtime: string;
  /** Process id of the runtime. */
  pid: number;
  /** The runtime's hawse version. */
  version: string;
  /** When the runtime was started, in seconds since 1970. */
  started: number;
  /** Number of terminals, including exited ones that are still listed. */
  terminals: number;
  /** Number of processes and running commands, including exited processes that are still listed. */
  processes: number;
  /** Number of sessions with a running shell. */
  sessions: number;
  /** Number of file descriptors the runtime has open. */
  open_fds: number;
  /** Number of asyncio tasks in the runtime. */
  tasks: number;
  /** Resident memory of the runtime, in bytes. */
  memory: number;
}

/** Return the runtime's counters, which a gateway serves at `/metrics`. */
export type RuntimeMetrics = Record<string, never>;

/**
 * The current state of the runtime, and its counters since startup.
 *
 * `cpu`, `output`, `reseeds` and `echo` are counters; the other numbers are current values. See docs/metrics.md.
 */
export interface RuntimeMetricsResult {
  /** When the runtime was started, in seconds since 1970. */
  started: number;
  /** CPU time that the runtime itself has used, in seconds. */
  cpu: number;
  /** Resident memory of the runtime, in bytes. */
  memory: number;
  /** Number of file descriptors the runtime has open. */
  open_fds: number;
  /** Number of running terminals. */
  terminals: number;
  /** Number of running processes, including `exec` commands. */
  processes: number;
  /** Number of running sessions. */
  sessions: number;
  /** Number of viewers attached to all terminals. */
  viewers: number;
  /** Number of bytes of output still to be sent to all viewers in total. */
  lag: number;
  /** Number of bytes of output still to be sent to the viewer that is furthest behind. */
  lag_max: number;
  /** Memory used by output journals, in bytes. */
  journals: number;
  /** Memory used by snapshots for viewers, in bytes. */
  snapshots: number;
  /** Number of recordings in progress. */
  recordings: number;
  /** Number of bytes programs have written to terminals. */
  output: number;
  /** Number of snapshots sent to viewers in place of output. */
  reseeds: number;
  /** Histogram of the time between input and the next output. */
  echo: EchoHistogram;
}

/**
 * Create a sandbox and start it.
 *
 * With an `id`, repeated and concurrent calls with the same parameters create only one sandbox and return it. If a sandbox with this id exists but has different parameters, the error is `conflict`. If a deleted sandbox with this id hasn't shut down yet, the error is `cleanup_pending`. If the sandbox cannot be started, it is removed.
 *
 * The sandbox belongs to the caller. Callers whose rights are limited to their own sandboxes can only choose ids that start with their name and a dot. For other ids, the error is `invalid_params`, with this prefix in `details.prefix`.
 */
export interface SandboxCreate {
  /** Id of the sandbox; null means a random id. */
  id?: string | null;
  /** Name of the provider; null means the default provider. */
  provider?: string | null;
  /** Name of one of the gateway's templates. The call's own values override the template's. */
  template?: string | null;
  /** Image that provides its file system; null means the provider's default. */
  image?: string | null;
  /** Whether to start the image's command (ENTRYPOINT and CMD) as a process named `image`. */
  image_command?: boolean;
  /** Environment for all programs in the sandbox. */
  env?: Record<string, string>;
  /** A snapshot or other backup, which is restored into the workspace before this call returns. */
  snapshot?: string | null;
  /** Labels, which `sandbox.list` can filter by. */
  labels?: Record<string, string>;
  /** Resource limits for the sandbox. */
  limits?: SandboxLimits;
  /** `none`, `private` (no outside network, but previews work), `filtered` (hosts that `egress` allows), or `host`. */
  network?: "filtered" | "host" | "none" | "private" | null;
  /** The rules for its filtered network; null means that nothing is allowed. */
  egress?: EgressPolicy | null;
  /** Ports that have a preview from the start. */
  ports?: SandboxPort[];
  /** Seconds until it is deleted, even if it is active; null means never. */
  timeout?: number | null;
  /** Seconds of inactivity until it sleeps; null means the gateway's default. */
  idle_timeout?: number | null;
  /** Whether it never sleeps. */
  keep_alive?: boolean;
}

/**
 * Delete a sandbox: end all its programs and remove its files.
 *
 * The call returns once all programs are confirmed to have exited. If that can't be confirmed, the error is `cleanup_pending`; the gateway keeps trying, and the id cannot be reused until it succeeds.
 */
export interface SandboxDelete {
  /** Id of the sandbox. */
  id: string;
}

/** A sandbox was deleted or no longer has the requested labels. */
export interface SandboxDeleted {
  /** Its id. */
  id: string;
}

/** Return a sandbox, without starting it. */
export interface SandboxGet {
  /** Id of the sandbox. */
  id: string;
}

/** A sandbox. */
export interface SandboxInfo {
  /** Id of the sandbox, which calls pass as `sandbox`. */
  id: string;
  /** Its state. A call starts a `sleeping` sandbox, but not a `stopped` one. */
  state: "deleting" | "failed" | "paused" | "running" | "sleeping" | "starting" | "stopped" | "stopping";
  /** How the sandbox is isolated from the machine, even if it is not running; null if unknown. */
  isolation?: "bubblewrap" | "docker" | "kubernetes" | "none" | null;
  /** Restrictions for its programs, even if it is not running; null if unknown. */
  enforcement?: Enforcement | null;
  /** Why it is in this state; null if there is no particular reason. */
  reason?: string | null;
  /** The current step while it is `starting`, such as `pulling`; null if unknown. */
  phase?: string | null;
  /** Fraction of the phase completed, from 0 to 1; null if unknown. */
  progress?: number | null;
  /** Id of its runtime, which changes each time it starts; null while it is not running. */
  runtime?: string | null;
  /** Name of its provider. */
  provider?: string | null;
  /** Id of the user who created it. */
  owner?: string | null;
  /** Template it was created from. */
  template?: string | null;
  /** Image that provides its file system; null means the provider's default. */
  image?: string | null;
  /** The network it can reach; null means the provider's default. */
  network?: "filtered" | "host" | "none" | "private" | null;
  /** The rules for its filtered network; null for other networks. */
  egress?: EgressPolicy | null;
  /** Labels. */
  labels?: Record<string, string>;
  /** When it was created, in seconds since 1970. */
  created?: number | null;
  /** When it will be deleted, in seconds since 1970; null means never. */
  expires?: number | null;
  /** Seconds of inactivity until it sleeps; null means never. */
  idle_timeout?: number | null;
}

/** Resource limits for a sandbox. Null means the provider's default. */
export interface SandboxLimits {
  /** Total memory for all programs, in bytes. */
  memory?: number | null;
  /** Number of processors; 0.5 is half of one. */
  cpus?: number | null;
  /** Maximum number of processes and threads. */
  processes?: number | null;
  /** Maximum size of the workspace, in bytes. */
  disk?: number | null;
}

/**
 * List the sandboxes on this gateway where the caller has a right, without starting them.
 *
 * A page has at most 32 sandboxes, and must fit into a control message. If many sandboxes lack the labels, a page can be empty. Keep calling with the returned `after` until it is null. A sandbox that exists during all these calls is on exactly one page.
 */
export interface SandboxList {
  /** Labels that a sandbox must have. */
  labels?: Record<string, string>;
  /** Return only sandboxes that come after this id. The sandbox with this id may have been deleted in the meantime. */
  after?: string | null;
  /** Maximum number of sandboxes on the page; null means as many as fit. */
  limit?: number | null;
}

/** A page of a gateway's sandboxes. */
export interface SandboxListResult {
  /** Sandboxes with the requested labels, running or not: the sandbox `local` first, then the others, sorted by id. */
  sandboxes: SandboxInfo[];
  /** The `after` value for the next page. Null on the last page. */
  after?: string | null;
}

/** Pause a sandbox and suspend all its programs, if its provider supports it. The sandbox then refuses calls. */
export interface SandboxPause {
  /** Id of the sandbox. */
  id: string;
}

/** A port that has a preview from the start. */
export interface SandboxPort {
  /** TCP port. */
  port: number;
  /** Display name. */
  name?: string | null;
  /** Token for the preview's address, 8 to 40 lower-case letters and digits; null means a random token. */
  token?: string | null;
}

/** Resume a paused sandbox. */
export interface SandboxResume {
  /** Id of the sandbox. */
  id: string;
}

/**
 * Back up a sandbox's workspace. `sandbox.create` can create other sandboxes from it.
 *
 * The result is the same as for `backup.create`. Programs and files outside the workspace are not included.
 */
export interface SandboxSnapshot {
  /** Id of the sandbox. */
  id: string;
  /** Display name. */
  name?: string | null;
  /** Seconds until the backup is deleted, counted from its creation; null means never. */
  ttl?: number | null;
}

/** Start a sandbox, even if it is `stopped`. A running sandbox is returned unchanged. */
export interface SandboxStart {
  /** Id of the sandbox. */
  id: string;
}

/**
 * Stop a sandbox and end all its programs. Its files are kept, and calls to it are refused until `sandbox.start`.
 *
 * The call returns once all programs are confirmed to have exited. If that can't be confirmed, the error is `cleanup_pending`, and the gateway keeps trying.
 */
export interface SandboxStop {
  /** Id of the sandbox. */
  id: string;
}

/** Change a sandbox. Omitted fields stay the same. */
export interface SandboxUpdate {
  /** Id of the sandbox. */
  id: string;
  /** Variables to set; a null value removes the variable. They apply to programs started after the call. */
  env?: Record<string, string | null>;
  /** Labels to set; a null value removes the label. */
  labels?: Record<string, string | null>;
  /** Seconds until the sandbox is deleted, counted from now. This can only extend its lifetime. */
  timeout?: number | null;
  /** Seconds of inactivity until it sleeps. */
  idle_timeout?: number | null;
  /** Whether it never sleeps; false restores its previous `idle_timeout`. */
  keep_alive?: boolean | null;
}

/**
 * Report the sandboxes where the caller has a right, now and after every change.
 *
 * The call sends a `changed` event for each existing sandbox, then `live`, and then a `changed` or `deleted` event after each change. Changes that a slow client hasn't read yet are merged.
 */
export interface SandboxWatch {
  /** Labels that a sandbox must have. */
  labels?: Record<string, string>;
}

/** A screen's cursor. */
export interface ScreenCursor {
  /** Column, from 0. */
  x: number;
  /** Row on the screen, from 0. */
  y: number;
  /** Whether the program shows the cursor. */
  visible: boolean;
  /** The cursor's shape; null if unknown. */
  shape?: "bar" | "block" | "hollow" | "underline" | null;
}

/** The terminal modes set by the program. */
export interface ScreenModes {
  /** Arrow keys send application sequences (DECCKM). */
  application_cursor: boolean;
  /** The keypad sends application sequences (DECKPAM). */
  application_keypad: boolean;
  /** Pasted text is enclosed in bracket sequences (mode 2004). */
  bracketed_paste: boolean;
  /** Foreground and background of the whole screen are swapped (DECSCNM). */
  reverse: boolean;
  /** Cursor positions are relative to the scrolling region (DECOM). */
  origin: boolean;
  /** Text continues on the next row at the right margin (DECAWM). */
  autowrap: boolean;
  /** Characters are inserted instead of overwriting others (IRM). */
  insert: boolean;
  /** The program is notified when the terminal gains or loses focus (mode 1004). */
  focus: boolean;
  /** The program is drawing a frame that is displayed when it is complete (mode 2026). */
  synchronized: boolean;
  /** Mouse events sent to the program; null means none. */
  mouse?: "any" | "drag" | "press" | "x10" | null;
  /** Encoding of the mouse events. */
  mouse_format: "sgr" | "sgr_pixels" | "urxvt" | "utf8" | "x10";
  /** Flags of the kitty keyboard protocol; 0 if it is off. */
  kitty_keyboard: number;
}

/** A matching file, or a matching line in a file. */
export interface SearchMatch {
  /** Path of the file, relative to the directory searched. */
  path: string;
  /** Line number, starting at 1; null if the match is the file itself. */
  line?: number | null;
  /** The line, truncated to 2,000 bytes; null if the match is the file itself. */
  text?: string | null;
  /** Start and end of each match in `text`, in characters; at most 100 matches. */
  spans?: [number, number][];
  /** Whether `text` was truncated. */
  truncated?: boolean;
}

/** A batch of matches. */
export interface SearchMatches {
  /** The matches. */
  matches: SearchMatch[];
}

/**
 * End a command in a session, but not the session itself.
 *
 * A queued command is removed from the queue, and its calls end with `cancelled`. For a running command, all processes it has started are killed, and the shell skips the rest of the command. The command's `signal` is then `SIGTERM`. The call returns once the command has ended. It is not an error if the command has already ended or never existed.
 */
export interface SessionCancel {
  /** Id of the session. */
  id: string;
  /** The expected instance. If the session has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Idempotency key of the `session.exec` call; null means the running command. */
  key?: string | null;
  /** Seconds to wait after TERM before sending KILL; null means 5. */
  grace?: number | null;
}

/**
 * Start a session, and return once its shell is ready.
 *
 * If a session with this id is running, the error is `conflict`; a session that has ended is replaced. If the shell cannot be used, the error is `spawn_failed`. At most 256 sessions can run at a time (`limit_exceeded`).
 */
export interface SessionCreate {
  /** Id of the session; null lets the server choose one. */
  id?: string | null;
  /** Directory to start in, relative to the workspace; null means the workspace. */
  cwd?: string | null;
  /** Variables to add to the environment; a null value removes the variable. */
  env?: Record<string, string | null> | null;
  /** Path of bash or a POSIX shell; null means bash, or /bin/sh if bash is missing. */
  shell?: string | null;
  /** Default `timeout` for commands, in seconds; null means no limit. */
  command_timeout?: number | null;
}

/**
 * End a session's shell and all the shell's descendants, and remove the session.
 *
 * The shell gets SIGHUP and the other processes get SIGTERM, then all of them get SIGKILL. The call returns once all of them have exited.
 */
export interface SessionDelete {
  /** Id of the session. */
  id: string;
  /** The expected instance. If the session has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Seconds to wait before sending KILL; null means 5. */
  grace?: number | null;
}

/**
 * Run a command in a session's shell. Commands in the same session are queued.
 *
 * The call returns once the command has ended; any later output from its background processes is dropped. If the call is cancelled or loses its connection while the command is queued, the command does not run. A running command continues, and a repeated call with the same idempotency key joins it.
 *
 * At most 64 commands can be queued (`limit_exceeded`). If the shell ends, queued and later commands fail with `exited`. If `cwd` does not exist, the error is `spawn_failed`.
 */
export interface SessionExec {
  /** Id of the session. */
  id: string;
  /** The expected instance. If the session has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Command line for the shell. */
  command: string;
  /** Directory for this command, relative to the session's; null means the session's. */
  cwd?: string | null;
  /** Variables to add for this command; a null value removes the variable. */
  env?: Record<string, string | null> | null;
  /** Whether stdin accepts input; otherwise, it is /dev/null. */
  stdin?: boolean | null;
  /** Time limit in seconds, from the start of the command; null means the session's `command_timeout`. If it is exceeded, the session continues. */
  timeout?: number | null;
  /** Maximum number of bytes to send from the start of each stream. Null means all bytes. */
  max_output?: number | null;
  /** For a repeated call: the offset of the first byte to send, for each stream. Null means 0. */
  since?: Since | null;
  /** Id of the input stream, which a repeated call must reuse; null if there is no input. */
  input?: string | null;
}

/** The command has started. */
export interface SessionExecOpened {
  /** Id of the session. */
  id: string;
  /** Instance of the session. */
  session: string;
  /** Unique id for this run of the command. */
  instance: string;
  /** For each stream, the offset of the first byte to be sent. */
  from?: StreamOffsets;
  /** Number of bytes in this input stream that have already been applied. */
  input_offset?: number;
}

/** A command in a session has ended. */
export interface SessionExecResult {
  /** Exit code; null if a signal ended the program. 124 if its time limit was exceeded. */
  code?: number | null;
  /** Name of the signal that ended it, such as `SIGKILL`; null if it exited. */
  signal?: string | null;
  /** Whether it was killed because its time limit was exceeded. */
  timed_out?: boolean;
  /** Whether the kernel killed it because memory ran out; null if unknown. In an isolated sandbox, files in `/tmp` and `/dev/shm` count as memory. */
  oom?: boolean | null;
  /** Length of stdout, in bytes. */
  stdout: number;
  /** Length of stderr, in bytes. */
  stderr: number;
  /** Whether a stream was longer than `max_output`, so that only its start was sent. */
  truncated?: boolean;
  /** How long it ran, in seconds; null if the runtime is too old to report it. */
  duration?: number | null;
  /** Whether the shell itself ended along with the command. */
  ended?: boolean;
}

/** The command is queued. */
export interface SessionExecWaiting {
  /** Number of commands ahead of it in the queue, including the running one. */
  ahead: number;
}

/** Describe one session. */
export interface SessionGet {
  /** Id of the session. */
  id: string;
}

/** A session: a persistent shell whose commands share its state. */
export interface SessionInfo {
  /** Id of the session. */
  id: string;
  /** Unique id for this instance of the session; a session created later with the same `id` gets a new one. */
  instance: string;
  /** Process id of the shell. */
  pid: number;
  /** Path of the shell. */
  shell: string;
  /** When it was started, in seconds since 1970. */
  started?: number;
  /** Whether the shell is running. */
  state?: "exited" | "running";
  /** Whether a command is running. */
  running?: boolean;
  /** Number of queued commands. */
  waiting?: number;
  /** Default `timeout` for commands, in seconds; null means no limit. */
  command_timeout?: number | null;
  /** How the shell ended; null while it is running. */
  exit?: Exit | null;
}

/** List running and ended sessions. */
export type SessionList = Record<string, never>;

/** Sessions. */
export interface SessionListResult {
  /** The running sessions and the 64 that ended most recently. */
  sessions: SessionInfo[];
}

/**
 * Start a process with a copy of a session's state, after any commands already queued.
 *
 * The state consists of the directory, the exported environment and, for a `command`, functions, aliases and options. The process is independent of the session. Set exactly one of `argv` and `command`.
 */
export interface SessionProcess {
  /** Id of the session. */
  session: string;
  /** The expected instance of the session. If the session has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Id of the process; null lets the server choose one. */
  id?: string | null;
  /** The program and its arguments. */
  argv?: string[] | null;
  /** Command line for the session's shell. */
  command?: string | null;
  /** Directory to start in, relative to the session's; null means the session's. */
  cwd?: string | null;
  /** Variables to add to the session's environment; a null value removes the variable. */
  env?: Record<string, string | null> | null;
  /** Whether stdin accepts input; otherwise, it is /dev/null. */
  stdin?: boolean | null;
  /** Time limit in seconds. If it is exceeded, all of the program's processes are killed. Null means no limit. */
  timeout?: number | null;
}

/** Wait for a session to end. */
export interface SessionWatch {
  /** Id of the session. */
  id: string;
  /** The expected instance. If the session has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
}

/** A session has ended. */
export interface SessionWatchResult {
  /** How its shell ended. */
  exit: Exit;
}

/** Create a link that gives access to a sandbox, or to one terminal and its recordings, without a token. */
export interface ShareCreate {
  /** The sandbox. */
  sandbox?: string;
  /** The only terminal to give access to. Null means the whole sandbox. */
  terminal?: string | null;
  /** The link's rights: `viewer` or `writer`. */
  role?: "joiner" | "operator" | "owner" | "viewer" | "writer";
  /** The guest's name. */
  name?: string;
  /** Seconds until it expires. Null means that it expires with the caller's token. */
  expires_in?: number | null;
  /** Maximum number of browsers, or null. If set, the link's secret can't be used as a token; it can only be exchanged for a session. */
  max_uses?: number | null;
}

/** A new share link. */
export interface ShareCreateResult {
  /** The secret. It is not stored, so it cannot be retrieved later. */
  token: string;
  /** The path, query and fragment of the link; append it to the gateway's address to get the complete link. */
  path: string;
  /** The link without its secret. */
  info: ShareInfo;
}

/** A share link, without its secret. */
export interface ShareInfo {
  /** Id of the link, to pass to `share.revoke`. */
  id: string;
  /** The guest's name, chosen by the link's creator; can be empty. */
  name: string;
  /** The sandbox it gives access to. */
  sandbox: string;
  /** Its rights: `writer` or `viewer`. */
  role: "joiner" | "operator" | "owner" | "viewer" | "writer";
  /** When it was created, in seconds since 1970. */
  created: number;
  /** The only terminal it gives access to, along with the terminal's recordings. Null means the whole sandbox. */
  terminal?: string | null;
  /** When it expires, in seconds since 1970. Null means never. */
  expires?: number | null;
  /** Number of browsers that have opened the link so far. Each browser exchanges the link's secret for a session. */
  uses?: number;
  /** Maximum number of uses. Null means unlimited. */
  max_uses?: number | null;
  /** The open connections and requests to this gateway that use the link. */
  users?: ShareUser[];
}

/** List the links that the caller may revoke, and the clients currently using them. */
export type ShareList = Record<string, never>;

/** Share links. */
export interface ShareListResult {
  /** The links that the caller may revoke, in order of creation. */
  links: ShareInfo[];
}

/** Revoke a link. Its connections are closed immediately. */
export interface ShareRevoke {
  /** Id of the token or link. */
  id: string;
}

/** A connection or request made through a share link. */
export interface ShareUser {
  /** Address of the client, `HOST:PORT`. */
  address: string;
  /** When it started, in seconds since 1970. */
  since: number;
}

/** For each stream, the offset of the first byte to send. */
export interface Since {
  /** Offset in stdout; null means 0. */
  stdout?: number | null;
  /** Offset in stderr; null means 0. */
  stderr?: number | null;
}

/** An offset for each stream, in bytes. */
export interface StreamOffsets {
  /** Offset in stdout. */
  stdout?: number;
  /** Offset in stderr. */
  stderr?: number;
}

/** Part of a stream was dropped because the client read it too slowly. */
export interface StreamTruncated {
  /** The stream. */
  stream: "stderr" | "stdout";
  /** Offset of the next byte to be sent; all bytes before it were dropped. */
  from: number;
}

/** A template. Its variables are not sent, because they can be secrets. */
export interface TemplateInfo {
  /** Name to pass to `sandbox.create` as `template`. */
  name: string;
  /** Human-readable description. */
  description?: string | null;
  /** Provider of its sandboxes; null means the default provider. */
  provider?: string | null;
  /** Image that provides their file system; null means the provider's default. */
  image?: string | null;
  /** The network they can reach; null means the provider's default. */
  network?: "filtered" | "host" | "none" | "private" | null;
  /** The rules for their filtered network; null for other networks. */
  egress?: EgressPolicy | null;
  /** Resource limits for each sandbox. */
  limits?: SandboxLimits;
  /** Labels for its sandboxes. */
  labels?: Record<string, string>;
  /** Number of sandboxes to start in advance. */
  pool?: number;
}

/** List the gateway's templates for `sandbox.create`. */
export type TemplateList = Record<string, never>;

/** A gateway's templates. */
export interface TemplateListResult {
  /** All templates, sorted by name. */
  templates: TemplateInfo[];
}

/**
 * Answer a question: type the answer into the terminal.
 *
 * A line or choice is typed with Enter. The answer to a `secret` must be sealed; it is typed, but not stored.
 *
 * Nothing is typed, and the error is `conflict`, if the program is no longer waiting for this answer, if the terminal would echo a secret, or if another caller has claimed the question. Claim such a question before answering it.
 */
export interface TerminalAnswer {
  /** Id of the terminal. */
  id: string;
  /** Id of the question. */
  question: string;
  /** The answer to `line`, `choice` and `key`. */
  text?: string | null;
  /** Names of keys to press, as in `terminal.send`, for `key`. */
  keys?: string[] | null;
  /** The sealed answer to `secret`, in base64 (docs/wire.md section 9). */
  sealed?: string | null;
  /** Key of the viewer that is typing; null for a client that is not a viewer. */
  viewer?: string | null;
}

/** A different viewer was chosen to answer programs' queries. */
export interface TerminalAnswers {
  /** Whether this viewer's emulator answers the queries from now on. */
  answers: boolean;
}

/**
 * Ask the terminal's users to answer its program's question, or to take over the terminal.
 *
 * All callers with the `write` right at the terminal see the question; `terminal.questions` reports how it ends. Except for `takeover`, the program must be waiting for input of this kind; otherwise, the error is `conflict`. The question is withdrawn once the program stops waiting. When a program reads a password, a question exists even without this call; the call adds the reason to it.
 *
 * At most 8 questions per terminal and 32 per caller can be open (`limit_exceeded`).
 */
export interface TerminalAsk {
  /** Id of the terminal. */
  id: string;
  /** The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Why an answer is needed, in one line. */
  reason: string;
  /** The kind of answer; null means `choice` if there are choices, or else the program's kind of input. */
  kind?: "choice" | "key" | "line" | "secret" | "takeover" | null;
  /** The possible answers, for `choice`. */
  choices?: string[] | null;
  /** Seconds until the question expires; null means that it does not expire. */
  expires?: number | null;
  /** `since` of the `waiting` state that the question is about; if outdated, the error is `conflict`. Null means the current state. */
  question?: number | null;
}

/**
 * Follow the output of a terminal and type into it.
 *
 * Output is sent from `since` on if the journal still holds it; otherwise, a snapshot of the screen is sent first. Input from the channel is typed into the terminal. `cancel` detaches; the terminal continues.
 *
 * Input ends the channel with an error in these cases: `lease_held` if another viewer holds the writer lease, `forbidden` if this viewer is read-only, `input_overflow` if the program is not reading its input. The error is `limit_exceeded` if there are too many viewers, or if the snapshot for a lossless viewer is too large.
 */
export interface TerminalAttach {
  /** Id of the terminal. */
  id: string;
  /** The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Offset after the last byte of output that the client has; null means all output. */
  since?: number | null;
  /** Id of the input stream, which a reconnecting client must reuse; null for a channel without input. */
  input?: string | null;
  /** Whether the program waits for this viewer, so that the viewer never skips output; null means false. */
  lossless?: boolean | null;
  /** Whether this viewer can answer programs' queries; null means false. */
  emulator?: boolean | null;
  /** Whether this viewer only watches; null means false. Callers without the `operate` right can only watch. */
  read_only?: boolean | null;
  /** Identity of this viewer; null means a new viewer with the defaults. */
  viewer?: ViewerProfile | null;
  /** Number of columns this viewer can show; null if unknown. */
  cols?: number | null;
  /** Number of rows this viewer can show; null if unknown. */
  rows?: number | null;
}

/** A terminal's program has ended, and all its output has been sent. */
export interface TerminalAttachResult {
  /** How it ended. */
  exit: Exit;
  /** Offset where the output ends, in bytes. */
  offset: number;
}

/**
 * Claim a question, so that others see that a person is working on it.
 *
 * A claim replaces another caller's earlier claim. If the program is no longer waiting, a claimed question counts as answered, because the person has typed into the terminal. If it has already ended, the error is `conflict`.
 */
export interface TerminalClaim {
  /** Id of the terminal. */
  id: string;
  /** Id of the question. */
  question: string;
  /** Whether to end the claim instead; null means false. */
  release?: boolean | null;
}

/**
 * Start a terminal, or return the running one with the same id.
 *
 * Concurrent calls with the same id start only one terminal. A terminal that has exited is replaced with a new instance.
 *
 * Unless `integration` is false, bash and zsh without arguments are configured to report their directory and commands. If `record` is set but the recording cannot be started, no terminal is started.
 */
export interface TerminalCreate {
  /** Id of the terminal; null lets the server choose one. */
  id?: string | null;
  /** The program and its arguments; null means the user's shell. */
  argv?: string[] | null;
  /** Directory to start in, relative to the workspace; null means the workspace. */
  cwd?: string | null;
  /** Variables to add to the environment; a null value removes the variable. */
  env?: Record<string, string | null> | null;
  /** Number of columns; null means 80. */
  cols?: number | null;
  /** Number of rows; null means 24. */
  rows?: number | null;
  /** Options for recording it from its first byte of output; null disables recording. */
  record?: RecordOptions | boolean | null;
  /** Whether the shell reports its directory and commands; null means true. */
  integration?: boolean | null;
}

/** The terminal with the requested id. */
export interface TerminalCreateResult {
  /** Id of the terminal. */
  id: string;
  /** Unique id for this instance of the terminal; a terminal started later with the same `id` gets a new one. */
  instance: string;
  /** Process id of the program. */
  pid: number;
  /** Number of columns. */
  cols: number;
  /** Number of rows. */
  rows: number;
  /** The program and its arguments, as requested. */
  argv: string[];
  /** Last directory reported by the shell (OSC 7); before the first report, its initial directory. */
  cwd: string;
  /** Last title set by a program (OSC 0, 2); null if none has been set. */
  title?: string | null;
  /** When it was started, in seconds since 1970. */
  started: number;
  /** Whether the program is running. */
  state: "exited" | "running";
  /** How the program ended; null while it is running. */
  exit?: Exit | null;
  /** When it ended, in seconds since 1970; null while it is running. */
  ended?: number | null;
  /** Offset of the first byte of output still in the journal. */
  start: number;
  /** Offset where the output ends, in bytes. */
  offset: number;
  /** Number of channels attached to it. */
  viewers: number;
  /** Whether its program was waiting for input when last checked. */
  waiting?: TerminalWaiting;
  /** Whether it was started by this call. */
  created: boolean;
}

/** Describe one terminal. */
export interface TerminalGet {
  /** Id of the terminal. */
  id: string;
  /** The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
}

/**
 * List the commands reported by a terminal's shell, oldest first.
 *
 * The last 1,000 commands are kept, with up to 256 KiB of their command lines.
 */
export interface TerminalHistory {
  /** Id of the terminal. */
  id: string;
  /** The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Maximum number of commands to return, starting with the latest. Null means 100. */
  limit?: number | null;
  /** Only commands with a lower number; null means all. */
  before?: number | null;
}

/** Commands run in a terminal. */
export interface TerminalHistoryResult {
  /** The commands, oldest first. If a command is running, it is the last one. */
  commands: CommandInfo[];
  /** Whether there are older commands. */
  more: boolean;
  /** Whether the shell reports its commands, because it was configured to do so or has already reported one. */
  reports_commands: boolean;
}

/** A terminal. */
export interface TerminalInfo {
  /** Id of the terminal. */
  id: string;
  /** Unique id for this instance of the terminal; a terminal started later with the same `id` gets a new one. */
  instance: string;
  /** Process id of the program. */
  pid: number;
  /** Number of columns. */
  cols: number;
  /** Number of rows. */
  rows: number;
  /** The program and its arguments, as requested. */
  argv: string[];
  /** Last directory reported by the shell (OSC 7); before the first report, its initial directory. */
  cwd: string;
  /** Last title set by a program (OSC 0, 2); null if none has been set. */
  title?: string | null;
  /** When it was started, in seconds since 1970. */
  started: number;
  /** Whether the program is running. */
  state: "exited" | "running";
  /** How the program ended; null while it is running. */
  exit?: Exit | null;
  /** When it ended, in seconds since 1970; null while it is running. */
  ended?: number | null;
  /** Offset of the first byte of output still in the journal. */
  start: number;
  /** Offset where the output ends, in bytes. */
  offset: number;
  /** Number of channels attached to it. */
  viewers: number;
  /** Whether its program was waiting for input when last checked. */
  waiting?: TerminalWaiting;
}

/**
 * End all processes in a terminal with SIGHUP and SIGCONT, then SIGKILL.
 *
 * This includes daemons started in the terminal. The call returns once all of them have exited. If the terminal has already exited, any processes still running are ended.
 */
export interface TerminalKill {
  /** Id of the terminal. */
  id: string;
  /** The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Seconds to wait after HUP before sending KILL; null means 2. */
  grace?: number | null;
}

/** The program of a terminal has ended. */
export interface TerminalKillResult {
  /** How it ended. */
  exit: Exit;
}

/**
 * Change which viewers may type into a terminal.
 *
 * `take` makes `viewer` the holder. `exclusive` does the same, but only if no other viewer is the holder. `release` lets all viewers type again, but only if no other viewer is the holder. `free` always lets all viewers type again.
 *
 * `ask` asks the holder to hand the lease over. The `asks` field of `viewer` is then true until the lease changes, `viewer` sends `withdraw` or leaves, the holder sends `keep`, or 60 seconds pass. `ask` has no effect while all viewers may type. `give` transfers the lease from `viewer` to the viewer `to`.
 *
 * The error is `conflict` if `exclusive` or `release` is refused, if `give` or `keep` comes from a viewer that is not the holder, or if `epoch` is outdated. The lease is in `details`. For a read-only viewer, the error is `forbidden`.
 */
export interface TerminalLease {
  /** Id of the terminal. */
  id: string;
  /** The action to take. */
  action: "ask" | "exclusive" | "free" | "give" | "keep" | "release" | "take" | "withdraw";
  /** Key of the viewer taking the action; can be null only for `release` and `free`. */
  viewer?: string | null;
  /** Public id of another viewer. For `give`, the next holder (required); for `keep`, the viewer whose request to refuse, or null to refuse all requests. */
  to?: string | null;
  /** The epoch that the lease must have; null means any. */
  epoch?: number | null;
}

/** List all terminals, running and exited. */
export type TerminalList = Record<string, never>;

/** Terminals. */
export interface TerminalListResult {
  /** All running terminals and the 64 that exited most recently. */
  terminals: TerminalInfo[];
}

/** The replay of earlier output is complete. */
export interface TerminalLive {
  /** Offset in the output where the replay ends, in bytes. */
  offset: number;
}

/**
 * The channel is attached.
 *
 * It first sends a snapshot of `screen` bytes, then output from offset `from` on. `cols` and `rows` are the terminal's size at this offset.
 */
export interface TerminalOpened {
  /** Id of the terminal. */
  id: string;
  /** Unique id for this instance of the terminal; a terminal started later with the same `id` gets a new one. */
  instance: string;
  /** Process id of the program. */
  pid: number;
  /** Number of columns. */
  cols: number;
  /** Number of rows. */
  rows: number;
  /** The program and its arguments, as requested. */
  argv: string[];
  /** Last directory reported by the shell (OSC 7); before the first report, its initial directory. */
  cwd: string;
  /** Last title set by a program (OSC 0, 2); null if none has been set. */
  title?: string | null;
  /** When it was started, in seconds since 1970. */
  started: number;
  /** Whether the program is running. */
  state: "exited" | "running";
  /** How the program ended; null while it is running. */
  exit?: Exit | null;
  /** When it ended, in seconds since 1970; null while it is running. */
  ended?: number | null;
  /** Offset of the first byte of output still in the journal. */
  start: number;
  /** Offset where the output ends, in bytes. */
  offset: number;
  /** Number of channels attached to it. */
  viewers: number;
  /** Whether its program was waiting for input when last checked. */
  waiting?: TerminalWaiting;
  /** `resume` if output is sent from `since` on, `start` if all output is sent, `snapshot` if a snapshot is sent first. */
  start_at: "resume" | "snapshot" | "start";
  /** Offset of the first byte of output to be sent. */
  from: number;
  /** Length of the snapshot that precedes the output, in bytes; 0 if there is no snapshot. */
  screen?: number;
  /** Number of bytes in this input stream that have already been applied. */
  input_offset?: number;
  /** Whether this viewer's emulator answers programs' queries. */
  answers?: boolean;
  /** Whether this viewer is not allowed to type. */
  read_only?: boolean;
  /** Public id of this viewer. */
  viewer?: string | null;
  /** All viewers of the terminal, including this one. */
  presence?: Participant[];
  /** The viewers that may type. */
  lease?: WriterLease | null;
}

/**
 * Change how a viewer appears to the other viewers of a terminal.
 *
 * Omitted fields stay the same.
 */
export interface TerminalPresence {
  /** Id of the terminal. */
  id: string;
  /** Key of the viewer. */
  viewer: string;
  /** Display name; null keeps the current name. */
  name?: string | null;
  /** Preferred color (`#rrggbb`). If it is null, in use or not in the palette, the color remains unchanged. */
  color?: string | null;
  /** Whether the viewer's user is looking at the terminal; null keeps the current value. */
  focus?: boolean | null;
  /** The cell that the viewer's pointer is on. Null hides the pointer; if this field is omitted, the pointer is unchanged. */
  at?: PointerPosition | null;
  /** Number of rows the viewer's user has scrolled back from the end; null keeps the current value. */
  scroll?: number | null;
  /** The object the viewer's user is looking at, in the client's own notation; null keeps the current value. */
  view?: string | null;
}

/**
 * Report all questions that the caller can answer, now and whenever one of them changes.
 *
 * There is at most one event per 0.25 seconds; changes in the meantime are merged, as are changes that the client has no credit for.
 */
export type TerminalQuestions = Record<string, never>;

/** Questions. */
export interface TerminalQuestionsResult {
  /** All questions that can be answered, and the last 64 that have ended; oldest first. */
  questions: Question[];
}

/**
 * Refuse a question, or withdraw one that the caller asked. If it has already ended, the error is `conflict`.
 *
 * The program keeps waiting, except for `hawse-ask`, which ends with exit code 1.
 */
export interface TerminalRefuse {
  /** Id of the terminal. */
  id: string;
  /** Id of the question. */
  question: string;
}

/** Output was skipped. A new snapshot follows, then the output from offset `from` on. */
export interface TerminalReseed {
  /** Number of columns. */
  cols: number;
  /** Number of rows. */
  rows: number;
  /** Offset of the first byte of output after the snapshot. */
  from: number;
  /** Length of the snapshot, in bytes. */
  screen: number;
}

/**
 * Set a terminal's size directly, or report the size that fits a viewer.
 *
 * With `viewer`, the terminal takes this size only while that viewer controls it. The result is the terminal's current size.
 */
export interface TerminalResize {
  /** Id of the terminal. */
  id: string;
  /** Number of columns. */
  cols: number;
  /** Number of rows. */
  rows: number;
  /** Key of the viewer that the size fits; null resizes the terminal directly. */
  viewer?: string | null;
  /** Whether `viewer` controls the size from now on, as if it had typed; null means false. */
  claim?: boolean | null;
}

/** The terminal was resized at `offset` in its output. */
export interface TerminalResized {
  /** Number of columns. */
  cols: number;
  /** Number of rows. */
  rows: number;
  /** Offset of the first byte of output printed at the new size. */
  offset: number;
}

/**
 * Return a terminal's screen as text, ANSI or HTML.
 *
 * `text` has one line per row, without trailing blanks. `ansi` has styled rows, separated by CR LF. `html` is one `div` with escaped text; only links to http, https, ftp, mailto and file targets are kept. At most 256 screens can be rendered at a time for the same caller (`limit_exceeded`).
 */
export interface TerminalScreen {
  /** Id of the terminal. */
  id: string;
  /** The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Format of the content; null means `text`. */
  format?: "ansi" | "html" | "text" | null;
  /** Maximum number of rows above the screen to include; null means 0. */
  scrollback?: number | null;
}

/** The screen after all output up to `offset`. */
export interface TerminalScreenResult {
  /** Format of `content`. */
  format: "ansi" | "html" | "text";
  /** The rows, from the oldest scrollback row to the last row on the screen. */
  content: string;
  /** Whether rows are missing at the top because `content` would exceed 786,432 bytes as JSON. */
  truncated: boolean;
  /** Number of rows in `content` that are above the screen. */
  scrollback: number;
  /** Number of columns on the screen. */
  cols: number;
  /** Number of rows on the screen. */
  rows: number;
  /** The cursor. */
  cursor: ScreenCursor;
  /** Whether the alternate screen is shown, which full-screen programs use. */
  alternate: boolean;
  /** The modes set by the program. */
  modes: ScreenModes;
  /** Last title set by a program (OSC 0, 2); null if none has been set. */
  title?: string | null;
  /** Last directory reported by the shell (OSC 7); null if none has been reported. */
  cwd?: string | null;
  /** Offset where the output shown on the screen ends, in bytes. */
  offset: number;
}

/**
 * Type text, then pasted text, then keys into a terminal, as a single uninterrupted input.
 *
 * Keys are encoded according to the modes set by the program. A key is a character or one of `enter`, `tab`, `escape`, `backspace`, `delete`, `insert`, `home`, `end`, `pageup`, `pagedown`, `up`, `down`, `left`, `right`, `space` and `f1` to `f25`, optionally preceded by any of `ctrl+`, `alt+`, `shift+` and `super+`.
 *
 * Either all input is typed or none. The error is `input_overflow` if the program is not reading its input, `lease_held` if another viewer holds the writer lease, `forbidden` if `viewer` is read-only, or `conflict` if the program is no longer waiting for the answer to `question`.
 */
export interface TerminalSend {
  /** Id of the terminal. */
  id: string;
  /** The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Literal text to type. */
  text?: string | null;
  /** Text to paste, bracketed if the program has enabled bracketed paste. Line ends become CR; other control characters except tab become spaces. */
  paste?: string | null;
  /** Names of the keys to press, such as `enter` or `ctrl+c`. */
  keys?: string[] | null;
  /** Key of the viewer that is typing; null for a client that is not a viewer. */
  viewer?: string | null;
  /** `since` of the `waiting` state that this input answers; if outdated, nothing is typed. Null types in any state. */
  question?: number | null;
}

/** The number of bytes typed, and the output offset before they were typed. */
export interface TerminalSendResult {
  /** Offset where the output ended before the input was typed. Pass it to `terminal.wait` as `since` to search all output after the input. */
  offset: number;
  /** Number of bytes typed. */
  bytes: number;
}

/** Send a signal to a terminal's foreground process group. */
export interface TerminalSignal {
  /** Id of the terminal. */
  id: string;
  /** Name of the signal with or without `SIG`, or its number. */
  signal: string | number;
}

/** The size of a terminal. */
export interface TerminalSize {
  /** Number of columns. */
  cols: number;
  /** Number of rows. */
  rows: number;
}

/** A viewer and its terminal. */
export interface TerminalViewer {
  /** Id of the terminal. */
  terminal: string;
  /** The viewer. */
  viewer: Participant;
}

/** List the viewers of all terminals. The caller does not become a viewer. */
export type TerminalViewers = Record<string, never>;

/** The viewers of all terminals. */
export interface TerminalViewersResult {
  /** The first 200 viewers. A person or agent viewing two terminals counts twice. */
  viewers: TerminalViewer[];
  /** Total number of viewers. */
  total: number;
}

/**
 * Wait for a match, silence, the end of a command, a prompt, a question, or the end of the program.
 *
 * The wait ends at the first of these events. Set at least one of `pattern`, `silence`, `command`, `prompt`, `waiting` and `exit`. The end of the program always ends the wait. If the search falls behind the output, the program is paused until the search catches up.
 *
 * A pattern is matched against the output without escape sequences and control characters, and with LF in place of CR LF. `^` and `$` match at every line, and a match is at most 65,536 bytes long. If the pattern is too expensive to match, the error is `too_large`. At most 512 waits can be open (`limit_exceeded`).
 *
 * If the shell doesn't report its commands (OSC 133), `prompt` ends the wait when the shell is waiting for its next command.
 */
export interface TerminalWait {
  /** Id of the terminal. */
  id: string;
  /** The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts any instance. */
  instance?: string | null;
  /** Pattern to search for, in RE2 syntax; null means none. */
  pattern?: string | null;
  /** Whether `pattern` is plain text rather than a regular expression; null means false. */
  literal?: boolean | null;
  /** `output` searches the output; `screen` searches the visible screen now and after each change. Null means `output`. */
  on?: "output" | "screen" | null;
  /** Whether to search the echoed input as well; null means true. Searches of the screen always include it. */
  echo?: boolean | null;
  /** Number of seconds without output before the wait ends; null means that silence does not end it. */
  silence?: number | null;
  /** Whether the end of a command ends the wait. The shell must report its commands (OSC 133). */
  command?: boolean | null;
  /** Whether the wait ends when no command is running and the shell has printed a prompt (OSC 133) since the last line or Ctrl-C was typed; null means false. */
  prompt?: boolean | null;
  /** Whether the wait ends when a program is waiting for input that hasn't been provided yet; null means false. A shell at its prompt does not end it. */
  waiting?: boolean | null;
  /** Whether to wait for the program to end. With `instance`, you can also wait for a replaced or removed terminal; the exits of the last 1,024 are kept. */
  exit?: boolean | null;
  /** Offset in the output where the search starts, in bytes; null means the current end. */
  since?: number | null;
  /** Time limit in seconds. If it is exceeded, the result is `timeout`. Null means 30. */
  timeout?: number | null;
}

/** The wait has started. */
export interface TerminalWaitOpened {
  /** Offset where the wait starts; greater than `since` if the journal no longer holds that output. */
  from: number;
}

/** The event that ended a wait. */
export interface TerminalWaitResult {
  /** Offset where the wait starts; greater than `since` if the journal no longer holds that output. */
  from: number;
  /** The condition that was met first, or `timeout`. */
  event: "command" | "exit" | "pattern" | "prompt" | "silence" | "timeout" | "waiting";
  /** Offset in the output where the next wait should continue, in bytes. */
  offset: number;
  /** For `pattern` events: the match. */
  match?: OutputMatch | null;
  /** For `command` events: the command that ended. */
  command?: CommandInfo | null;
  /** For `exit` events: how the program ended. */
  exit?: Exit | null;
  /** For `waiting` events: the waiting program and its prompt. */
  waiting?: TerminalWaiting | null;
}

/**
 * Whether a terminal's foreground program is waiting for input.
 *
 * The runtime asks the kernel whether a process is blocked reading from the terminal, 0.1 to 0.5 seconds after output has stopped. As long as nothing is printed, the runtime asks at least every 2 seconds.
 */
export interface TerminalWaiting {
  /** `line` for a line with echo, `secret` for a line without echo, `key` for single keys; otherwise `no`, or `unknown`. */
  kind: "key" | "line" | "no" | "secret" | "unknown";
  /** Whether a shell is waiting for its next command. `kind` is then `no`. */
  idle_shell?: boolean;
  /** Whether `kind` is a guess based on silence and the last row of output, because the kernel doesn't expose the state. */
  guess?: boolean;
  /** When it was first seen waiting, in seconds since 1970; null if `kind` is `no`. */
  since?: number | null;
  /** The waiting program and its arguments, truncated to 256 characters; null if `kind` is `no` or the program is unknown. */
  command?: string | null;
  /** Text of the unfinished last row of output; null if that row is empty, and for full-screen programs. */
  prompt?: string | null;
}

/**
 * Report all terminals, running and exited, now and whenever one of them changes.
 *
 * A change is a new, ended or removed terminal, or a different title, directory, size, number of viewers or `waiting` state. Output alone is not a change. There is at most one event per second; changes in the meantime are merged, as are changes that occur while the client has no credit.
 */
export type TerminalWatch = Record<string, never>;

/** A replacement of one string with another. */
export interface TextEdit {
  /** The text to replace, exactly as it is in the file. */
  old: string;
  /** The replacement. */
  new: string;
  /** Whether to replace every occurrence; otherwise `old` must occur exactly once. */
  all?: boolean;
}

/** Create a token. It cannot have more rights than its creator, and expires with the creator's token at the latest. */
export interface TokenCreate {
  /** Its purpose. */
  name?: string;
  /** Its rights. */
  role?: "joiner" | "operator" | "owner" | "viewer" | "writer";
  /** The sandboxes it is limited to. Null means all sandboxes that the caller may give access to. */
  sandboxes?: string[] | null;
  /** Whether it is limited to sandboxes created by its user. If so, it cannot see other sandboxes. */
  own?: boolean;
  /** The user that it identifies. Null means the caller. Only callers with every right in all sandboxes may specify another user. */
  user?: string | null;
  /** Seconds until it expires. Null means that it expires with the caller's token. */
  expires_in?: number | null;
}

/** A new token. */
export interface TokenCreateResult {
  /** The secret. It is not stored, so it cannot be retrieved later. */
  token: string;
  /** The token without its secret. */
  info: TokenInfo;
}

/**
 * A token, without its secret.
 *
 * A login through the identity provider is listed as a token as well, but has no secret.
 */
export interface TokenInfo {
  /** Id of the token, or `login-…` for a login; pass it to `token.revoke`. */
  id: string;
  /** Its purpose, as described by its creator. */
  name: string;
  /** The user that it identifies. Calls made with it have a principal with this `id`. */
  user: string;
  /** Its rights: `owner`, `operator`, `writer`, `viewer`, or `joiner`, which can connect a machine as a sandbox. */
  role: "joiner" | "operator" | "owner" | "viewer" | "writer";
  /** When it was created, in seconds since 1970. */
  created: number;
  /** The sandboxes it is limited to. Null means all sandboxes. */
  sandboxes?: string[] | null;
  /** Whether it is limited to sandboxes created by its user. */
  own?: boolean;
  /** When it expires, in seconds since 1970. Null means never. */
  expires?: number | null;
  /** Number of open connections and requests to this gateway that use the token or one of its sessions. */
  connections?: number;
}

/** List the tokens that the caller may revoke: its own, or all if it has every right in all sandboxes. */
export type TokenList = Record<string, never>;

/** Tokens. */
export interface TokenListResult {
  /** The tokens that the caller may revoke, in order of creation. */
  tokens: TokenInfo[];
}

/** Revoke a token and all tokens and links created with it. Connections that use any of them are closed. */
export interface TokenRevoke {
  /** Id of the token or link. */
  id: string;
}

/**
 * Give a port a public address at the gateway. Anyone who knows the address can connect without a token.
 *
 * An `http` tunnel has a host name and a path. A `tcp` tunnel has a port on the gateway. A `tls` tunnel has a host name, at a gateway port shared by all `tls` tunnels. The program in the sandbox terminates TLS, with a certificate for this name. If the operator has not enabled this kind, the error is `unavailable`.
 *
 * For other `provider` values, the gateway runs a program: `cloudflared` for an `http` address, which changes with each start, or `ssh` for a `tcp` port on an SSH server. The call returns once the address can be used. If the operator has not enabled the provider, or its program is missing or cannot connect, the error is `unavailable`.
 *
 * The address stays the same until the tunnel expires or the tunnel or sandbox is deleted; it survives restarts of the sandbox and the gateway. Neither this call nor visitors start the sandbox. If a tunnel with the same kind, sandbox, port, and name or `public_port` exists, the call updates its `expires_in` and returns it.
 *
 * If another tunnel has this name or port, the error is `conflict`. At most 16 tunnels can exist per sandbox and 1,000 per gateway, including 32 with other providers (`limit_exceeded`).
 */
export interface TunnelCreate {
  /** Id of the sandbox. */
  sandbox: string;
  /** The port number. No program needs to be listening yet. */
  port: number;
  /** Its id: lower-case letters, digits, single hyphens. Others can guess the address. Null means a random id. Gateway `tcp` tunnels can't have a name. */
  name?: string | null;
  /** Its protocol; null means `tcp` with `ssh`, otherwise `http`. */
  kind?: "http" | "tcp" | "tls" | null;
  /** Port on the gateway or the SSH server, for `tcp`; null means a free port. */
  public_port?: number | null;
  /** Seconds until it ends; null means that it ends with the sandbox. */
  expires_in?: number | null;
  /** The provider of its address. */
  provider?: "cloudflared" | "gateway" | "ssh";
}

/** Delete a tunnel and end its connections. Any user can then create a tunnel with the same name. */
export interface TunnelDelete {
  /** Id of the sandbox. */
  sandbox: string;
  /** Id of the tunnel. */
  tunnel: string;
}

/** A tunnel. */
export interface TunnelInfo {
  /** Its id, unique within the gateway: the requested name or a random id. */
  id: string;
  /** The sandbox. */
  sandbox: string;
  /** The port in the sandbox that it forwards to. */
  port: number;
  /** Its protocol: `http`, including WebSockets; `tcp`; or `tls`, routed by the requested host name. */
  kind?: "http" | "tcp" | "tls";
  /** Path of its address at the gateway, `/t/ID/`; null if it has no path. */
  path?: string | null;
  /** Host name of its address, without a port; null means the gateway's. */
  host?: string | null;
  /** Port of its address, for `tcp` and `tls`; null means the gateway's own port, or no port yet. */
  public_port?: number | null;
  /** Id of the user who created it. */
  owner?: string | null;
  /** When it was created, in seconds since 1970. */
  created?: number;
  /** When it ends, in seconds since 1970; null if it ends with the sandbox. */
  expires?: number | null;
  /** Number of requests and connections open through it at this gateway. */
  connections?: number;
  /** The provider of its address. */
  provider?: "cloudflared" | "gateway" | "ssh";
  /** Its complete address, if its provider is not the gateway; null if the fields above specify the address, or if the tunnel has none. */
  url?: string | null;
  /** Why it cannot currently be reached; null if it can. */
  problem?: string | null;
}

/** List a sandbox's tunnels without starting it. */
export interface TunnelList {
  /** Id of the sandbox. */
  sandbox: string;
}

/** A sandbox's tunnels. */
export interface TunnelListResult {
  /** The tunnels, sorted by id. */
  tunnels: TunnelInfo[];
}

/** How a viewer introduces itself in `terminal.attach`. */
export interface ViewerProfile {
  /** Random secret that identifies the viewer when it reconnects; null means a new viewer on each connection. */
  key?: string | null;
  /** Display name, truncated to 40 characters; null means `guest-N` or `agent-N`. If the token, account or link has a name, that name is used instead. */
  name?: string | null;
  /** Preferred color (`#rrggbb`), one of the ten in the palette. Ignored if the color is in use or not in the palette. */
  color?: string | null;
  /** Whether it is a person or an agent; null keeps the current value, which is initially `person`. */
  kind?: "agent" | "person" | null;
  /** Whether the viewer's user is looking at the terminal; null keeps the current value, which is initially false. */
  focus?: boolean | null;
}

/**
 * Return the changes in a directory since a version, up to the time of the call.
 *
 * The watch continues for 10 minutes after the last call. The last 10,000 changes are kept.
 */
export interface WatchChanges {
  /** The directory, relative to the workspace unless it is absolute. */
  path: string;
  /** Whether to watch subdirectories as well. */
  recursive?: boolean;
  /** Globs for paths to report. A glob without a slash matches names at any depth. Null includes everything. */
  include?: string[] | null;
  /** Globs for paths to exclude, including everything below them. Null means `.git`, `.hawse` and `.hawse-*`. */
  exclude?: string[] | null;
  /** Version of this watch; only later changes are reported. Null starts a new watch. */
  since?: string | null;
}

/** The changes in a directory since a version. */
export interface WatchChangesResult {
  /** Id of the watch. */
  id: string;
  /** Whether there are changes; `rescan` if the changes are unavailable and the directory must be read again. */
  status: "changed" | "rescan" | "unchanged";
  /** Opaque position after these changes, to pass as `since`. */
  version: string;
  /** The changes, in chronological order. */
  changes?: WatchedChange[];
  /** Whether there are more changes. To get them, pass this `version` as `since`. */
  more?: boolean;
  /** Why the changes are unavailable, as in `rescan` events; null for any other `status`. */
  reason?: "behind" | "expired" | "overflow" | "restarted" | null;
}

/** Changes before `version` are unavailable, so the client must read the directory itself. */
export interface WatchRescan {
  /** Opaque position after these changes, to pass as `since`. */
  version: string;
  /** The cause: `overflow` of the kernel's queue, a client that fell `behind`, a watch that `expired`, or a runtime that `restarted`. */
  reason: "behind" | "expired" | "overflow" | "restarted";
}

/**
 * Report the changes in a directory as they happen, until the call is cancelled.
 *
 * Symlinks are not followed. A client that reads too slowly gets `rescan`. The error is `not_found` if the directory does not exist or disappears later; `limit_exceeded` if more than 64 watches have readers, if a watch has more than 65,536 directories, or if a kernel limit is reached.
 */
export interface WatchStart {
  /** The directory, relative to the workspace unless it is absolute. */
  path: string;
  /** Whether to watch subdirectories as well. */
  recursive?: boolean;
  /** Globs for paths to report. A glob without a slash matches names at any depth. Null includes everything. */
  include?: string[] | null;
  /** Globs for paths to exclude, including everything below them. Null means `.git`, `.hawse` and `.hawse-*`. */
  exclude?: string[] | null;
  /** Version of this watch; only later changes are reported. Null reports changes from now on. */
  since?: string | null;
}

/** The watch was ended with `watch.stop`. */
export interface WatchStartResult {
  /** Always `stopped`. */
  reason?: "stopped";
}

/** The watch is live: every later change is reported. */
export interface WatchStarted {
  /** Id of the watch. */
  id: string;
  /** Absolute path of the directory being watched. */
  path: string;
  /** Opaque position in the sequence of changes, to pass as `since`. */
  version: string;
}

/** End a watch for all clients. It is not an error if the watch does not exist. */
export interface WatchStop {
  /** Id of the watch. */
  id: string;
}

/**
 * A change to one path.
 *
 * A rename is reported as `deleted` and `added`. For a deleted or moved directory, a single change covers all its content.
 */
export interface WatchedChange {
  /** Kind of change; `modified` refers to content, mode or timestamps. */
  type: "added" | "deleted" | "modified";
  /** The absolute path. */
  path: string;
  /** Whether it is, or was, a directory. */
  directory?: boolean;
}

/**
 * Changes in chronological order.
 *
 * Several changes to the same path within 50 ms are reported as one.
 */
export interface WatchedChanges {
  /** Opaque position after these changes, to pass as `since`. */
  version: string;
  /** The changes. */
  changes: WatchedChange[];
}

/** The viewers that may type into a terminal. */
export interface WriterLease {
  /** `free` if all viewers may type, `exclusive` if only the holder may. */
  mode: "exclusive" | "free";
  /** Public id of the viewer that holds the lease; null in `free` mode. */
  holder?: string | null;
  /** Number of times the lease has changed so far. */
  epoch: number;
}

/** The writer lease has changed. */
export interface WriterLeaseEvent {
  /** `free` if all viewers may type, `exclusive` if only the holder may. */
  mode: "exclusive" | "free";
  /** Public id of the viewer that holds the lease; null in `free` mode. */
  holder?: string | null;
  /** Number of times the lease has changed so far. */
  epoch: number;
  /** Number of bytes of this channel's own input stream that were applied before the change. */
  applied: number;
}

/** The methods of a sandbox, by name. */
export interface Methods {
  "backup.pack": {
    params: BackupPack;
    result: BackupPackResult;
    events: { progress: BackupProgress };
  };
  "backup.unpack": {
    params: BackupUnpack;
    result: BackupRestoreResult;
    events: { progress: BackupProgress };
  };
  "code.answer": {
    params: CodeAnswer;
    result: Nothing;
    events: Record<string, never>;
  };
  "code.attach": {
    params: CodeAttach;
    result: CodeRunResult;
    events: { opened: CodeRunOpened; value: CodeDisplay; display: CodeDisplay; update: CodeDisplay; clear: CodeClear; raised: CodeErrorRaised; input: CodeInputRequest; truncated: CodeTruncated };
  };
  "code.complete": {
    params: CodeComplete;
    result: CodeCompleteResult;
    events: Record<string, never>;
  };
  "code.create": {
    params: CodeCreate;
    result: CodeContextInfo;
    events: Record<string, never>;
  };
  "code.delete": {
    params: CodeDelete;
    result: Nothing;
    events: Record<string, never>;
  };
  "code.get": {
    params: CodeGet;
    result: CodeContextInfo;
    events: Record<string, never>;
  };
  "code.inspect": {
    params: CodeInspect;
    result: CodeInspectResult;
    events: Record<string, never>;
  };
  "code.interrupt": {
    params: CodeInterrupt;
    result: Nothing;
    events: Record<string, never>;
  };
  "code.languages": {
    params: CodeLanguages;
    result: CodeLanguagesResult;
    events: Record<string, never>;
  };
  "code.list": {
    params: CodeList;
    result: CodeListResult;
    events: Record<string, never>;
  };
  "code.restart": {
    params: CodeRestart;
    result: CodeContextInfo;
    events: Record<string, never>;
  };
  "code.run": {
    params: CodeRun;
    result: CodeRunResult;
    events: { waiting: CodeRunWaiting; opened: CodeRunOpened; value: CodeDisplay; display: CodeDisplay; update: CodeDisplay; clear: CodeClear; raised: CodeErrorRaised; input: CodeInputRequest; truncated: CodeTruncated };
  };
  "code.watch": {
    params: CodeWatch;
    result: Nothing;
    events: { changed: CodeWatched };
  };
  "desktop.attach": {
    params: DesktopAttach;
    result: DesktopAttachResult;
    events: { opened: DesktopOpened; joined: ParticipantEvent; presence: ParticipantEvent; left: ParticipantLeft; lease: WriterLeaseEvent };
  };
  "desktop.click": {
    params: DesktopClick;
    result: Nothing;
    events: Record<string, never>;
  };
  "desktop.clipboard": {
    params: DesktopClipboard;
    result: DesktopClipboardResult;
    events: Record<string, never>;
  };
  "desktop.drag": {
    params: DesktopDrag;
    result: Nothing;
    events: Record<string, never>;
  };
  "desktop.key": {
    params: DesktopKey;
    result: Nothing;
    events: Record<string, never>;
  };
  "desktop.launch": {
    params: DesktopLaunch;
    result: ProcessInfo;
    events: Record<string, never>;
  };
  "desktop.lease": {
    params: DesktopLease;
    result: WriterLease;
    events: Record<string, never>;
  };
  "desktop.list": {
    params: DesktopList;
    result: DesktopListResult;
    events: Record<string, never>;
  };
  "desktop.move": {
    params: DesktopMove;
    result: Nothing;
    events: Record<string, never>;
  };
  "desktop.resize": {
    params: DesktopResize;
    result: DesktopSize;
    events: Record<string, never>;
  };
  "desktop.screenshot": {
    params: DesktopScreenshot;
    result: DesktopScreenshotResult;
    events: Record<string, never>;
  };
  "desktop.scroll": {
    params: DesktopScroll;
    result: Nothing;
    events: Record<string, never>;
  };
  "desktop.start": {
    params: DesktopStart;
    result: DesktopStartResult;
    events: Record<string, never>;
  };
  "desktop.stop": {
    params: DesktopStop;
    result: Nothing;
    events: Record<string, never>;
  };
  "desktop.type": {
    params: DesktopType;
    result: Nothing;
    events: Record<string, never>;
  };
  "desktop.windows": {
    params: DesktopWindows;
    result: DesktopWindowsResult;
    events: Record<string, never>;
  };
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
  "file.cancel": {
    params: FileCancel;
    result: Nothing;
    events: Record<string, never>;
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
  "file.edit": {
    params: FileEdit;
    result: FileEditResult;
    events: Record<string, never>;
  };
  "file.exists": {
    params: FileExists;
    result: FileExistsResult;
    events: Record<string, never>;
  };
  "file.extract": {
    params: FileExtract;
    result: FileExtractResult;
    events: { progress: FileExtractProgress };
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
  "file.symlink": {
    params: FileSymlink;
    result: Nothing;
    events: Record<string, never>;
  };
  "file.utime": {
    params: FileUtime;
    result: Nothing;
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
  "port.accept": {
    params: PortAccept;
    result: PortConnectResult;
    events: { opened: PortConnectOpened; end: PortConnectEnd };
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
  "port.listen": {
    params: PortListen;
    result: Nothing;
    events: { listening: PortListening; connection: PortIncoming };
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
  "process.killall": {
    params: ProcessKillall;
    result: ProcessKillallResult;
    events: Record<string, never>;
  };
  "process.list": {
    params: ProcessList;
    result: ProcessListResult;
    events: Record<string, never>;
  };
  "process.remove": {
    params: ProcessRemove;
    result: ProcessRemoveResult;
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
  "runtime.activity": {
    params: RuntimeActivity;
    result: RuntimeActivityResult;
    events: Record<string, never>;
  };
  "runtime.configure": {
    params: RuntimeConfigure;
    result: Nothing;
    events: Record<string, never>;
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
  "session.cancel": {
    params: SessionCancel;
    result: Nothing;
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
  "terminal.answer": {
    params: TerminalAnswer;
    result: Question;
    events: Record<string, never>;
  };
  "terminal.ask": {
    params: TerminalAsk;
    result: Question;
    events: Record<string, never>;
  };
  "terminal.attach": {
    params: TerminalAttach;
    result: TerminalAttachResult;
    events: { opened: TerminalOpened; resized: TerminalResized; live: TerminalLive; reseed: TerminalReseed; answers: TerminalAnswers; waiting: TerminalWaiting; joined: ParticipantEvent; presence: ParticipantEvent; left: ParticipantLeft; lease: WriterLeaseEvent; exit: Exit };
  };
  "terminal.claim": {
    params: TerminalClaim;
    result: Question;
    events: Record<string, never>;
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
  "terminal.questions": {
    params: TerminalQuestions;
    result: Nothing;
    events: { questions: TerminalQuestionsResult };
  };
  "terminal.refuse": {
    params: TerminalRefuse;
    result: Question;
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
  "terminal.viewers": {
    params: TerminalViewers;
    result: TerminalViewersResult;
    events: Record<string, never>;
  };
  "terminal.wait": {
    params: TerminalWait;
    result: TerminalWaitResult;
    events: { opened: TerminalWaitOpened };
  };
  "terminal.watch": {
    params: TerminalWatch;
    result: Nothing;
    events: { terminals: TerminalListResult };
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
  "audit.list": {
    params: AuditList;
    result: AuditListResult;
    events: Record<string, never>;
  };
  "backup.cancel": {
    params: BackupCancel;
    result: Nothing;
    events: Record<string, never>;
  };
  "backup.create": {
    params: BackupCreate;
    result: BackupInfo;
    events: { progress: BackupProgress };
  };
  "backup.delete": {
    params: BackupDelete;
    result: Nothing;
    events: Record<string, never>;
  };
  "backup.get": {
    params: BackupGet;
    result: BackupInfo;
    events: Record<string, never>;
  };
  "backup.list": {
    params: BackupList;
    result: BackupListResult;
    events: Record<string, never>;
  };
  "backup.restore": {
    params: BackupRestore;
    result: BackupRestoreResult;
    events: { progress: BackupProgress };
  };
  "backup.usage": {
    params: BackupUsage;
    result: BackupUsageResult;
    events: Record<string, never>;
  };
  "egress.get": {
    params: EgressGet;
    result: EgressInfo;
    events: Record<string, never>;
  };
  "egress.set": {
    params: EgressSet;
    result: EgressInfo;
    events: Record<string, never>;
  };
  "egress.watch": {
    params: EgressWatch;
    result: Nothing;
    events: { request: EgressRequest; lost: EgressLost; live: Nothing };
  };
  "image.list": {
    params: ImageList;
    result: ImageListResult;
    events: Record<string, never>;
  };
  "image.pull": {
    params: ImagePull;
    result: ImageInfo;
    events: { progress: ImageProgress };
  };
  "image.remove": {
    params: ImageRemove;
    result: Nothing;
    events: Record<string, never>;
  };
  "mount.create": {
    params: MountCreate;
    result: MountInfo;
    events: Record<string, never>;
  };
  "mount.delete": {
    params: MountDelete;
    result: Nothing;
    events: Record<string, never>;
  };
  "mount.list": {
    params: MountList;
    result: MountListResult;
    events: Record<string, never>;
  };
  "preview.host": {
    params: PreviewHost;
    result: PreviewHostResult;
    events: Record<string, never>;
  };
  "sandbox.create": {
    params: SandboxCreate;
    result: SandboxInfo;
    events: Record<string, never>;
  };
  "sandbox.delete": {
    params: SandboxDelete;
    result: Nothing;
    events: Record<string, never>;
  };
  "sandbox.get": {
    params: SandboxGet;
    result: SandboxInfo;
    events: Record<string, never>;
  };
  "sandbox.list": {
    params: SandboxList;
    result: SandboxListResult;
    events: Record<string, never>;
  };
  "sandbox.pause": {
    params: SandboxPause;
    result: SandboxInfo;
    events: Record<string, never>;
  };
  "sandbox.resume": {
    params: SandboxResume;
    result: SandboxInfo;
    events: Record<string, never>;
  };
  "sandbox.snapshot": {
    params: SandboxSnapshot;
    result: BackupInfo;
    events: { progress: BackupProgress };
  };
  "sandbox.start": {
    params: SandboxStart;
    result: SandboxInfo;
    events: Record<string, never>;
  };
  "sandbox.stop": {
    params: SandboxStop;
    result: SandboxInfo;
    events: Record<string, never>;
  };
  "sandbox.update": {
    params: SandboxUpdate;
    result: SandboxInfo;
    events: Record<string, never>;
  };
  "sandbox.watch": {
    params: SandboxWatch;
    result: Nothing;
    events: { changed: SandboxInfo; deleted: SandboxDeleted; live: Nothing };
  };
  "share.create": {
    params: ShareCreate;
    result: ShareCreateResult;
    events: Record<string, never>;
  };
  "share.list": {
    params: ShareList;
    result: ShareListResult;
    events: Record<string, never>;
  };
  "share.revoke": {
    params: ShareRevoke;
    result: Nothing;
    events: Record<string, never>;
  };
  "template.list": {
    params: TemplateList;
    result: TemplateListResult;
    events: Record<string, never>;
  };
  "token.create": {
    params: TokenCreate;
    result: TokenCreateResult;
    events: Record<string, never>;
  };
  "token.list": {
    params: TokenList;
    result: TokenListResult;
    events: Record<string, never>;
  };
  "token.revoke": {
    params: TokenRevoke;
    result: Nothing;
    events: Record<string, never>;
  };
  "tunnel.create": {
    params: TunnelCreate;
    result: TunnelInfo;
    events: Record<string, never>;
  };
  "tunnel.delete": {
    params: TunnelDelete;
    result: Nothing;
    events: Record<string, never>;
  };
  "tunnel.list": {
    params: TunnelList;
    result: TunnelListResult;
    events: Record<string, never>;
  };
}
