// The gateway's sandboxes, kept up to date by `sandbox.watch`, with the facts that the page shows and the actions that
// it offers.

import type { Disposable } from "../../base/disposables";
import type { Channel, ChannelHandlers } from "../../client/channels";
import type { CallOptions } from "../../wire/connection";
import type { HawseError } from "../../wire/errors";
import type { SandboxDeleted, SandboxInfo } from "../../wire/methods";

/** The client methods that the table uses. */
export interface WatchSource {
  open(method: string, options: CallOptions, handlers: ChannelHandlers): Channel | undefined;
  onUp(listener: () => void): Disposable;
}

export class SandboxTable implements Disposable {
  readonly #source: WatchSource;
  readonly #changed: () => void;
  readonly #up: Disposable;
  readonly #known = new Map<string, SandboxInfo>();
  /** Ids sent by this watch before `live`; undefined after that. Sandboxes not sent before `live` have been deleted. */
  #seen: Set<string> | undefined;
  #channel: Channel | undefined;
  #complete = false;
  #error: HawseError | undefined;

  /** Starts the watch, and restarts it on each new connection. `changed` is called after each change. */
  constructor(source: WatchSource, changed: () => void) {
    this.#source = source;
    this.#changed = changed;
    this.#up = source.onUp(() => this.#watch());
    this.#watch();
  }

  /** All sandboxes, oldest first. */
  get sandboxes(): SandboxInfo[] {
    return [...this.#known.values()].sort(
      (a, b) => (a.created ?? 0) - (b.created ?? 0) || (a.id < b.id ? -1 : 1),
    );
  }

  /** Whether the gateway has sent all sandboxes. */
  get complete(): boolean {
    return this.#complete;
  }

  /**
   * The error from the gateway that ended the watch. If the connection is lost, there is no error, because the next
   * connection starts a new watch.
   */
  get error(): HawseError | undefined {
    return this.#error;
  }

  dispose(): void {
    this.#up.dispose();
    this.#channel?.cancel();
    this.#channel = undefined;
  }

  #watch(): void {
    this.#seen = new Set();
    this.#error = undefined;
    this.#channel = this.#source.open(
      "sandbox.watch",
      { params: {} },
      {
        event: (name, value, cost) => {
          this.#receive(name, value);
          this.#channel?.consume(cost);
          this.#changed();
        },
        result: () => {},
        error: error => {
          if (error.code === "interrupted") return;
          this.#error = error;
          this.#changed();
        },
      },
    );
  }

  #receive(name: string, value: unknown): void {
    if (name === "changed") {
      const info = value as SandboxInfo;
      this.#known.set(info.id, info);
      this.#seen?.add(info.id);
    } else if (name === "deleted") {
      this.#known.delete((value as SandboxDeleted).id);
    } else if (name === "live") {
      for (const id of [...this.#known.keys()]) if (!this.#seen?.has(id)) this.#known.delete(id);
      this.#seen = undefined;
      this.#complete = true;
    }
  }
}

export type SandboxAction = "start" | "resume" | "stop" | "delete";

/** Returns the actions that are possible in the sandbox's current state. */
export function actionsFor({ state }: SandboxInfo): SandboxAction[] {
  switch (state) {
    case "running":
    case "starting":
    case "sleeping":
      return ["stop", "delete"];
    case "paused":
      return ["resume", "stop", "delete"];
    case "stopped":
    case "failed":
      return ["start", "delete"];
    case "stopping":
      return ["delete"];
    case "deleting":
      return [];
  }
}

/** Returns the state in words: `starting: pulling 40 %`. */
export function describeState({ state, phase, progress }: SandboxInfo): string {
  if (state !== "starting" || !phase || phase === state) return state;
  return progress == null ? `${state}: ${phase}` : `${state}: ${phase} ${Math.round(progress * 100)} %`;
}

/** Returns facts about the sandbox other than its state. */
export function describeSandbox(info: SandboxInfo): string[] {
  const facts: string[] = [];
  if (info.provider === "joined") facts.push("joined machine");
  if (info.isolation === "none") facts.push("not isolated");
  else if (info.isolation) facts.push(info.isolation);
  if (info.network) facts.push(`network ${info.network}`);
  if (info.image) facts.push(info.image);
  if (info.template) facts.push(`template ${info.template}`);
  if (info.expires != null) facts.push(`deleted at ${new Date(info.expires * 1000).toLocaleString()}`);
  return facts;
}

/**
 * Parses `NAME=value` lines with variables or labels. Empty lines are ignored; a value may contain `=`.
 *
 * Throws an Error naming the line if a line has no name or no `=`.
 */
export function parsePairs(text: string): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (!line.trim()) continue;
    const [, name, value] = /^\s*([^=]*?)\s*=(.*)$/.exec(line) ?? [];
    if (!name || value === undefined) throw new Error(`Line ${index + 1} is "${line}"; write NAME=value.`);
    pairs[name] = value;
  }
  return pairs;
}
