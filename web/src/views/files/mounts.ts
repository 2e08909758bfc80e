// The sandbox's mounts, which are marked in the file tree: buckets and directories from outside the sandbox.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { Disposable } from "../../base/disposables";
import { HawseError } from "../../wire/errors";
import type { MountInfo } from "../../wire/methods";

/** Milliseconds between polls while there are mounts, and while there are none. */
export const INTERVAL = 3_000;
export const IDLE_INTERVAL = 30_000;

export type Mounts = ReadonlyMap<string, MountInfo>;

/**
 * Polls the mounts, because changes to them aren't reported as events. Polling stops if the user may not see mounts.
 */
export class MountList implements Disposable {
  readonly #list: () => Promise<readonly MountInfo[]>;
  readonly #mounts = signal<Mounts>(new Map());
  #timer: ReturnType<typeof setTimeout> | undefined;
  #disposed = false;

  /** `list` returns the mounts. It throws HawseError. */
  constructor(list: () => Promise<readonly MountInfo[]>) {
    this.#list = list;
  }

  /** The mounts, keyed by path relative to the workspace. */
  get mounts(): ReadonlySignal<Mounts> {
    return this.#mounts;
  }

  /** Polls immediately and then at regular intervals. */
  async start(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const found = await this.#list();
      if (this.#disposed) return;
      if (found.length || this.#mounts.peek().size)
        this.#mounts.value = new Map(found.map(info => [info.path, info]));
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      // Any other error means that the gateway has no mounts or that the user may not see them.
      if (!error.retryable && error.code !== "interrupted") return;
    }
    if (this.#disposed) return;
    clearTimeout(this.#timer); // during the await, another call to `start` may have set a timer
    const delay = this.#mounts.peek().size ? INTERVAL : IDLE_INTERVAL;
    this.#timer = setTimeout(() => void this.start(), delay);
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
  }
}

/** Returns the description shown next to a mount's name in the tree; empty for an ordinary directory. */
export function stateOf({ state = "waiting", read_only, pending = 0 }: MountInfo): string {
  if (state === "failed") return "failed";
  if (state === "waiting") return "not mounted";
  if (pending) return `${pending} to upload`;
  if (state === "deleting") return "being removed";
  return read_only ? "read-only" : "";
}

/** Returns a sentence describing a mount. */
export function describeMount(info: MountInfo): string {
  const { bucket, backup, prefix, read_only, state = "waiting", reason, pending = 0 } = info;
  const source = prefix ? `${bucket}/${prefix}` : bucket;
  const parts = [
    backup ? `Overlay of backup ${backup}` : `Mount of ${source}${read_only ? ", read-only" : ""}`,
  ];
  if (state === "failed") parts.push(`failed${reason ? `: ${reason}` : ""}`);
  if (state === "waiting") parts.push("not mounted, because the sandbox is not running");
  if (state === "deleting") parts.push(backup ? "being removed" : "removed when everything is uploaded");
  if (pending)
    parts.push(pending === 1 ? "1 file is not uploaded yet" : `${pending} files are not uploaded yet`);
  return parts.join("; ");
}
