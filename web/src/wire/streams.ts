// Generated from hawse/api by `make generate`; do not edit.

/** The methods that send events or bytes, or take bytes. */
export const STREAMS = [
  "backup.create",
  "backup.pack",
  "backup.restore",
  "backup.unpack",
  "code.attach",
  "code.run",
  "code.watch",
  "exec",
  "file.archive",
  "file.extract",
  "file.list",
  "file.read",
  "file.search",
  "file.write",
  "git.clone",
  "image.pull",
  "port.connect",
  "port.watch",
  "process.attach",
  "process.wait",
  "recording.read",
  "recording.watch",
  "sandbox.snapshot",
  "sandbox.watch",
  "session.exec",
  "session.watch",
  "terminal.attach",
  "terminal.wait",
  "watch.start",
] as const;

export type StreamMethod = (typeof STREAMS)[number];
