// Searches in files and groups the matches by file.

import { type ReadonlySignal, signal } from "@preact/signals";
import { errorText } from "../../client/error-text";
import type { SandboxHandle } from "../../client/sandbox";
import { HawseError } from "../../wire/errors";
import type { SearchMatch } from "../../wire/methods";

export interface Query {
  readonly text: string;
  /** Whether `text` is a regular expression in RE2 syntax. */
  readonly regular: boolean;
  readonly matchCase: boolean;
  /** Globs, separated by commas or spaces; if empty, all files are searched. */
  readonly files: string;
}

export interface FileHits {
  readonly path: string;
  readonly hits: readonly SearchMatch[];
}

export interface Results {
  readonly files: readonly FileHits[];
  readonly count: number;
  /** Whether there are more matching lines than are shown. */
  readonly truncated: boolean;
  readonly running: boolean;
  /** Why the search failed; empty if it didn't. */
  readonly problem: string;
}

/** Maximum number of lines to find. */
const LIMIT = 2_000;
/** Directories that users rarely want to search. */
export const EXCLUDED = [".git", "node_modules", "__pycache__", ".venv"];
export const NOTHING: Results = { files: [], count: 0, truncated: false, running: false, problem: "" };

/** Adds matches after earlier ones in the same file. */
export function grouped(files: readonly FileHits[], matches: readonly SearchMatch[]): FileHits[] {
  const byPath = new Map(files.map(({ path, hits }) => [path, [...hits]]));
  for (const match of matches) {
    const hits = byPath.get(match.path);
    if (hits) hits.push(match);
    else byPath.set(match.path, [match]);
  }
  return [...byPath].map(([path, hits]) => ({ path, hits }));
}

export interface Part {
  readonly text: string;
  readonly found: boolean;
}

/** Number of characters shown before the first match in a line. */
const BEFORE = 40;

/** Splits a line into matches and the text between them. The spans count code points. */
export function partsOf({ text, spans }: Pick<SearchMatch, "text" | "spans">): Part[] {
  const chars = [...(text ?? "")];
  const first = spans?.[0]?.[0] ?? 0;
  const indent = chars.findIndex(char => char.trim() !== "");
  const start = first > BEFORE + indent ? first - BEFORE : Math.max(0, Math.min(indent, first));
  const parts: Part[] = start > Math.max(0, indent) ? [{ text: "…", found: false }] : [];
  let at = start;
  const add = (end: number, found: boolean) => {
    if (end > at) parts.push({ text: chars.slice(at, end).join(""), found });
    at = Math.max(at, end);
  };
  for (const [from, to] of spans ?? []) {
    add(from, false);
    add(to, true);
  }
  add(chars.length, false);
  return parts;
}

type SearchSource = { readonly file: Pick<SandboxHandle["file"], "search"> };

export class FileSearch {
  readonly #source: SearchSource;
  readonly #results = signal<Results>(NOTHING);
  #current: { cancel(): void } | undefined;

  constructor(source: SearchSource) {
    this.#source = source;
  }

  readonly results: ReadonlySignal<Results> = this.#results;

  /** Starts a search, whose results replace the previous ones. If the text is empty, nothing is found. */
  async run({ text, regular, matchCase, files }: Query): Promise<void> {
    this.cancel();
    this.#results.value = NOTHING;
    if (!text) return;
    const include = files.split(/[\s,]+/).filter(Boolean);
    const stream = this.#source.file.search({
      path: ".",
      pattern: text,
      literal: !regular,
      ignore_case: !matchCase,
      exclude: EXCLUDED,
      limit: LIMIT,
      ...(include.length ? { include } : {}),
    });
    this.#current = stream;
    const change = (results: Partial<Results>) => {
      if (this.#current === stream) this.#results.value = { ...this.#results.value, ...results };
    };
    change({ running: true });
    try {
      for await (const item of stream) {
        if (item.event !== "matches") continue;
        const { files: found, count } = this.#results.value;
        const { matches } = item.value;
        change({ files: grouped(found, matches), count: count + matches.length });
      }
      const { truncated } = await stream;
      change({ running: false, truncated });
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      const problem =
        error.code === "forbidden" ? "You are not allowed to search in this sandbox." : errorText(error);
      change({ running: false, problem });
    }
  }

  cancel(): void {
    const stream = this.#current;
    this.#current = undefined;
    stream?.cancel();
  }
}
