// A notebook's file: reads it, saves it with the version that was read, and watches it for changes. This module doesn't
// use the DOM.

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Disposable } from "../../base/disposables";
import type { SandboxHandle } from "../../client/sandbox";
import { HawseError } from "../../wire/errors";
import { watchFile } from "../files/file-watch";
import { CELLS_MAX } from "./cell-runs";
import { type NotebookFile, readNotebook } from "./ipynb-read";
import { updatedNotebook } from "./ipynb-update";
import type { Notebook } from "./notebook";

/** Maximum file size in bytes. */
const FILE_MAX = 33_554_432;

export type NotebookFileBox = Pick<SandboxHandle, "file" | "read" | "write" | "watch">;

export class NotebookFileStore implements Disposable {
  readonly path: string;
  readonly saving: ReadonlySignal<boolean>;
  /** Whether the file has changed since this page started editing it. */
  readonly stale: ReadonlySignal<boolean>;
  readonly #box: NotebookFileBox;
  readonly #notebook: Notebook;
  readonly #saving: Signal<boolean> = signal(false);
  readonly #stale: Signal<boolean> = signal(false);
  #watch: Disposable | undefined;
  #file: NotebookFile | undefined;
  #text = "";
  #version: string | undefined;

  constructor(box: NotebookFileBox, notebook: Notebook, path: string) {
    this.#box = box;
    this.#notebook = notebook;
    this.path = path;
    this.saving = this.#saving;
    this.stale = this.#stale;
  }

  /**
   * Reads the file into the notebook. Returns the number of cells that aren't shown because there are too many. Throws
   * HawseError, or Error if the file isn't a notebook or is too large.
   */
  async load(): Promise<number> {
    const { text, version } = await this.#read();
    const file = readNotebook(text, CELLS_MAX);
    this.#stale.value = this.#notebook.load(file, version);
    this.#text = text;
    this.#file = file;
    this.#version = version;
    return file.omitted;
  }

  /** Discards all changes and rereads the file. Throws the same errors as `load`. */
  async discard(): Promise<void> {
    this.#notebook.discard();
    await this.load();
  }

  /** Loads each change made to the file by other clients, unless this page has changed the notebook. */
  follow(failed: (error: unknown) => void): void {
    this.#watch?.dispose();
    this.#watch = watchFile(this.#box, this.path, () => void this.#changed().catch(failed));
  }

  /**
   * Writes the file. If the file's version isn't the one that was read, nothing is written and `stale` is set, unless
   * `overwrite` is true. Any other `HawseError` is thrown.
   */
  async save(overwrite = false): Promise<void> {
    if (this.#saving.peek() || !this.#file) return;
    this.#saving.value = true;
    try {
      if (overwrite && this.#stale.peek()) await this.load(); // so that cells added by other clients are kept
      const { cells, generation } = this.#notebook.snapshot();
      const text = this.#updated();
      const condition = overwrite || this.#version === undefined ? {} : { if_version: this.#version };
      const { version } = await this.#box.write(this.path, text, condition);
      this.#text = text;
      this.#file = { ...this.#file, language: this.#notebook.context.language.peek() };
      this.#version = version;
      this.#stale.value = false;
      this.#notebook.saved(cells, generation, version);
    } catch (error) {
      if (!(error instanceof HawseError) || error.code !== "conflict") throw error;
      this.#stale.value = true;
    } finally {
      this.#saving.value = false;
    }
  }

  /**
   * Returns the current sources of the cells in the file and of those in the notebook. Throws the same errors as
   * `load`.
   */
  async compare(): Promise<{ readonly before: string; readonly after: string }> {
    const { text } = await this.#read();
    const { cells } = this.#notebook.snapshot();
    return { before: sourcesOf(readNotebook(text, CELLS_MAX).cells), after: sourcesOf(cells) };
  }

  dispose(): void {
    this.#watch?.dispose();
  }

  #updated(): string {
    const { language, info } = this.#notebook.context;
    const name = language.peek();
    const same = name === (this.#file?.language ?? "python");
    return updatedNotebook(this.#text, {
      cells: this.#notebook.snapshot().cells,
      shown: CELLS_MAX,
      language: same ? undefined : { name, kernel: info.peek()?.kernel || name },
    });
  }

  async #changed(): Promise<void> {
    if (!this.#file || this.#saving.peek()) return;
    const stat = await this.#box.file.stat({ path: this.path }).catch(() => undefined);
    if (!stat || this.#saving.peek() || (stat.version ?? undefined) === this.#version) return;
    if (this.#notebook.edited.peek()) this.#stale.value = true;
    else await this.load();
  }

  async #read(): Promise<{ readonly text: string; readonly version: string | undefined }> {
    const { size, version } = await this.#box.file.stat({ path: this.path });
    if (size > FILE_MAX) throw new Error("This notebook is larger than 32 MB.");
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let [text, read] = ["", 0];
    for await (const chunk of this.#box.read(this.path, { version: version ?? null })) {
      read += chunk.length;
      if (read > FILE_MAX) throw new Error("This notebook is larger than 32 MB.");
      text += decoded(decoder, chunk);
    }
    return { text: text + decoded(decoder), version: version ?? undefined };
  }
}

function decoded(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined });
  } catch {
    throw new Error("This file is not a notebook: it is not valid UTF-8.");
  }
}

function sourcesOf(cells: readonly { readonly kind: "code" | "text"; readonly source: string }[]): string {
  return cells
    .map(({ kind, source }) => `# %%${kind === "text" ? " [markdown]" : ""}\n${source}\n`)
    .join("\n");
}
