// The file tree: the loaded and expanded directories, and the resulting rows. Each expanded directory is watched, and
// listed again when an entry in it has changed.

import { type ReadonlySignal, signal } from "@preact/signals";
import { errorText } from "../../client/error-text";
import type { SandboxHandle } from "../../client/sandbox";
import { wasInterrupted } from "../../client/streams";
import { HawseError } from "../../wire/errors";
import type { FileEntry } from "../../wire/methods";
import { type Mark, marksOf } from "./git-marks";

export interface Row {
  /** Path relative to the workspace. */
  readonly path: string;
  readonly name: string;
  readonly depth: number;
  readonly entry: FileEntry;
  readonly expanded: boolean;
  readonly mark: Mark | undefined;
}

/** The methods of a sandbox that the tree uses. */
export type TreeSource = {
  file: Pick<SandboxHandle["file"], "list">;
  watch: Pick<SandboxHandle["watch"], "start">;
  git: Pick<SandboxHandle["git"], "status">;
};

interface Directory {
  entries: readonly FileEntry[];
  /** Stops watching the directory. */
  stop: () => void;
}

/** Maximum number of directories to watch; the server allows 64 watches in total, across all clients. */
const WATCHES = 24;
/** Maximum number of entries displayed per directory. */
const ENTRIES = 50_000;
/** Minimum time between two listings of a directory that keeps changing, in milliseconds. */
const PAUSE = 300;

const ORDER = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

export class FileTree {
  readonly #source: TreeSource;
  readonly #directories = new Map<string, Directory>();
  readonly #rows = signal<readonly Row[]>([]);
  readonly #error = signal<string | undefined>(undefined);
  readonly #marks = new Map<string, ReadonlyMap<string, Mark>>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  #disposed = false;

  constructor(source: TreeSource) {
    this.#source = source;
  }

  get rows(): ReadonlySignal<readonly Row[]> {
    return this.#rows;
  }

  /** The error for the last directory that couldn't be listed. */
  get error(): ReadonlySignal<string | undefined> {
    return this.#error;
  }

  /** The directories whose entries are shown, besides the workspace. */
  get expanded(): readonly string[] {
    return [...this.#directories.keys()].filter(path => path !== "");
  }

  /** Lists a directory, shows its entries, and follows changes to it. The workspace is the empty path. */
  async expand(path: string): Promise<void> {
    if (this.#disposed || this.#directories.has(path)) return;
    const directory: Directory = { entries: [], stop: () => {} };
    this.#directories.set(path, directory);
    if (this.#directories.size <= WATCHES) directory.stop = this.#watch(path);
    await this.reload(path);
  }

  /** Hides the entries of a directory and everything below it. */
  collapse(path: string): void {
    for (const [known, { stop }] of [...this.#directories]) {
      if (known !== path && !isBelow(known, path)) continue;
      stop();
      this.#directories.delete(known);
      this.#marks.delete(known);
      clearTimeout(this.#timers.get(known));
      this.#timers.delete(known);
    }
    this.#show();
  }

  /** Lists a directory again. */
  async reload(path: string): Promise<void> {
    const directory = this.#directories.get(path);
    if (!directory) return;
    try {
      const entries = await this.#list(path);
      if (this.#directories.get(path) !== directory) return;
      directory.entries = entries;
      this.#error.value = undefined;
      this.#show();
      if (entries.some(({ path: name }) => name === ".git")) await this.#loadMarks(path);
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      if (this.#directories.get(path) !== directory || problem.code === "cancelled") return;
      if (path !== "" && problem.code === "not_found") this.collapse(path);
      else if (!wasInterrupted(problem)) this.#error.value = errorText(problem);
    }
  }

  dispose(): void {
    this.#disposed = true;
    this.collapse("");
  }

  async #list(path: string): Promise<FileEntry[]> {
    const entries: FileEntry[] = [];
    for await (const item of this.#source.file.list({ path: path || ".", hidden: true })) {
      if (item.event === "entries") entries.push(...item.value.entries);
      if (entries.length >= ENTRIES) break;
    }
    return entries.slice(0, ENTRIES).sort(compare);
  }

  async #loadMarks(path: string): Promise<void> {
    try {
      const { entries = [] } = await this.#source.git.status({ path: path || "." });
      if (!this.#directories.has(path)) return;
      this.#marks.set(path, marksOf(path, entries));
      this.#show();
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem; // if Git isn't available, no marks are shown
    }
  }

  /** Follows changes in a directory until the returned function is called. */
  #watch(path: string): () => void {
    let current: { cancel(): void } | undefined;
    let stopped = false;
    const follow = async () => {
      for (let again = false; !stopped; again = true) {
        const stream = this.#source.watch.start({ path: path || ".", recursive: false, exclude: [] });
        current = stream;
        try {
          for await (const { event } of stream) {
            if (event === "changes" || event === "rescan" || again) this.#changed(path);
          }
          return;
        } catch (problem) {
          // Without a watch, the entries are shown as they were when they were listed.
          if (!(problem instanceof HawseError) || !wasInterrupted(problem)) return;
        }
      }
    };
    void follow();
    return () => {
      stopped = true;
      current?.cancel();
    };
  }

  #changed(path: string): void {
    if (this.#timers.has(path) || this.#disposed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(path);
      void this.reload(path);
      for (const repository of this.#marks.keys()) {
        if (repository !== path && isBelow(path, repository)) void this.#loadMarks(repository);
      }
    }, PAUSE);
    this.#timers.set(path, timer);
  }

  #show(): void {
    const rows: Row[] = [];
    const add = (parent: string, depth: number) => {
      for (const entry of this.#directories.get(parent)?.entries ?? []) {
        const path = parent ? `${parent}/${entry.path}` : entry.path;
        const expanded = this.#directories.has(path);
        rows.push({ path, name: entry.path, depth, entry, expanded, mark: this.#markOf(path) });
        if (expanded) add(path, depth + 1);
      }
    };
    add("", 0);
    this.#rows.value = rows;
  }

  #markOf(path: string): Mark | undefined {
    for (const marks of this.#marks.values()) {
      const mark = marks.get(path);
      if (mark) return mark;
    }
    return undefined;
  }
}

/** Sorts directories before files, and then by name; numbers within names are compared by value. */
export function compare(a: FileEntry, b: FileEntry): number {
  const kind = Number(b.type === "directory") - Number(a.type === "directory");
  return kind || ORDER.compare(a.path, b.path) || (a.path < b.path ? -1 : 1);
}

/** Returns whether `path` is in `directory`, at any depth. The workspace is the empty path. */
export function isBelow(path: string, directory: string): boolean {
  return directory === "" ? path !== "" : path.startsWith(`${directory}/`);
}

/** Returns the directory of a path; empty for the workspace. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Resolves `.` and `..` in a workspace path. */
export function resolved(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

export function join(directory: string, name: string): string {
  return directory ? `${directory}/${name}` : name;
}
