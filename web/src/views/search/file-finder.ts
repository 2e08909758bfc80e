// Finds files by parts of their paths. The search runs on the server, because a sandbox can have more files than a page
// should load.

import { type ReadonlySignal, signal } from "@preact/signals";
import { errorText } from "../../client/error-text";
import type { SandboxHandle } from "../../client/sandbox";
import { HawseError } from "../../wire/errors";
import type { FileSearch } from "../../wire/methods";
import { EXCLUDED } from "./results";

/** How long to wait after the last key before starting a search, in milliseconds. */
const DELAY = 120;
/** Maximum number of files to find, in addition to files with exactly this name. */
const LIMIT = 1_000;
const NAMED = 200;

export interface FoundFiles {
  readonly paths: readonly string[];
  readonly status: string;
}

type Source = { readonly file: Pick<SandboxHandle["file"], "search"> };

export class FileFinder {
  readonly #source: Source;
  readonly #found = signal<FoundFiles>({ paths: [], status: "Searching…" });
  #timer: ReturnType<typeof setTimeout> | undefined;
  #current: { cancel(): void } | undefined;
  #text: string | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  readonly found: ReadonlySignal<FoundFiles> = this.#found;

  /** Starts a search after a short delay, replacing the previous one. */
  search(text: string): void {
    const wanted = text.trim();
    if (wanted === this.#text) return;
    const first = this.#text === undefined;
    this.#cancel();
    this.#text = wanted;
    this.#found.value = { ...this.#found.peek(), status: "Searching…" };
    this.#timer = setTimeout(() => void this.#run(wanted), first ? 0 : DELAY);
  }

  dispose(): void {
    this.#cancel();
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#current?.cancel();
    this.#current = undefined;
  }

  async #run(text: string): Promise<void> {
    const words = text.split(/\s+/).filter(Boolean);
    const paths = new Set<string>();
    const show = (status: string) => {
      if (this.#text === text) this.#found.value = { paths: [...paths], status };
    };
    try {
      const { truncated, failed } = await this.#collect(paths, show, {
        limit: LIMIT,
        ...(words.length ? { words } : {}),
      });
      const last = words.at(-1);
      // Searches separately for files whose name is exactly the typed text, so that they are found even if there are
      // too many results.
      if (truncated && last && this.#text === text)
        await this.#collect(paths, show, { limit: NAMED, words, include: namedGlobs(last) });
      show(describe(paths.size, truncated, failed, words.length > 0));
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      show(error.code === "forbidden" ? "You are not allowed to search in this sandbox." : errorText(error));
    }
  }

  async #collect(
    paths: Set<string>,
    show: (status: string) => void,
    params: Partial<FileSearch>,
  ): Promise<{ readonly truncated: boolean; readonly failed: number }> {
    const stream = this.#source.file.search({ path: ".", exclude: EXCLUDED, ...params });
    this.#current = stream;
    for await (const item of stream) {
      if (item.event !== "matches") continue;
      for (const { path } of item.value.matches) paths.add(path);
      show("Searching…");
    }
    return await stream;
  }
}

/** Returns globs for files with this name, with any extension or none. */
export function namedGlobs(name: string): string[] {
  const exact = name.replace(/[[\]*?]/g, character => `[${character}]`);
  return [`**/${exact}`, `**/${exact}.*`];
}

function describe(count: number, truncated: boolean, failed: number, typed: boolean): string {
  const hidden = `${EXCLUDED.slice(0, -1).join(", ")} and ${EXCLUDED.at(-1)} are not searched.`;
  const unread = failed ? ` ${failed} could not be read.` : "";
  if (truncated && typed)
    return `The first ${count.toLocaleString("en")} files whose paths contain this. Type more of the name.${unread}`;
  if (truncated) return `The first ${count.toLocaleString("en")} files. Type part of a name.${unread}`;
  return count ? unread.trim() : `No path contains this. ${hidden}${unread}`;
}
