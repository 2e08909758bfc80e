// Uploads files one after another, replacing each file atomically. If a file already exists, the user decides.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { WriteOptions } from "../../client/sandbox";
import { HawseError } from "../../wire/errors";
import { join } from "./tree";

export interface UploadFile {
  /** Path relative to the destination directory. */
  readonly path: string;
  readonly content: Blob;
}

export interface UploadProgress {
  /** Path of the file being sent. */
  readonly path: string;
  readonly files: number;
  readonly filesDone: number;
  /** Total size of all files in bytes. */
  readonly bytes: number;
  readonly bytesDone: number;
}

export type Answer = "replace" | "both" | "skip";

export interface Conflict {
  readonly path: string;
  /** `all` applies the answer to the rest of this upload. */
  answer(answer: Answer, all: boolean): void;
}

type Write = (path: string, data: Blob, options: WriteOptions) => Promise<unknown>;

/** Maximum number of files per upload, because a dropped directory can be much larger than the user expects. */
export const FILES_MAX = 10_000;

export class Uploads {
  readonly #write: Write;
  readonly #progress = signal<UploadProgress | undefined>(undefined);
  readonly #conflict = signal<Conflict | undefined>(undefined);
  readonly #waiting: (() => Promise<void>)[] = [];
  #abort = new AbortController();
  #running = false;

  constructor(write: Write) {
    this.#write = write;
  }

  /** The upload in progress. */
  get progress(): ReadonlySignal<UploadProgress | undefined> {
    return this.#progress;
  }

  /** The existing file that the user has to decide about. */
  get conflict(): ReadonlySignal<Conflict | undefined> {
    return this.#conflict;
  }

  /**
   * Uploads files into `directory`, after any uploads already waiting. Returns the number of files uploaded. Throws
   * HawseError.
   */
  upload(directory: string, files: readonly UploadFile[]): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() =>
        this.#upload(directory, files)
          .finally(() => {
            this.#progress.value = undefined;
          })
          .then(resolve, reject),
      );
      void this.#run();
    });
  }

  /** Ends the current upload. Files already uploaded are kept. */
  cancel(): void {
    this.#abort.abort();
    this.#conflict.value?.answer("skip", true);
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      this.#abort = new AbortController();
      await next();
    }
    this.#running = false;
  }

  async #upload(directory: string, files: readonly UploadFile[]): Promise<number> {
    const bytes = files.reduce((sum, { content }) => sum + content.size, 0);
    const decision: { answer?: Answer | undefined } = {};
    let bytesDone = 0;
    let placed = 0;
    for (const [filesDone, { path, content }] of files.entries()) {
      if (this.#abort.signal.aborted) break;
      const show = (sent: number) => {
        this.#progress.value = { path, files: files.length, filesDone, bytes, bytesDone: bytesDone + sent };
      };
      show(0);
      if (await this.#place(join(directory, path), content, decision, show)) placed++;
      bytesDone += content.size;
    }
    return placed;
  }

  /** Returns whether the file was uploaded. */
  async #place(
    path: string,
    content: Blob,
    decision: { answer?: Answer | undefined },
    progress: (sent: number) => void,
  ): Promise<boolean> {
    const { signal } = this.#abort;
    let target = path;
    let version = "";
    for (let copy = 2; ; ) {
      try {
        await this.#write(target, content, { if_version: version, progress, signal });
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        if (!(error instanceof HawseError) || error.code !== "conflict") throw error;
        // If both files are to be kept, a new name is chosen without asking.
        const answer = target === path ? (decision.answer ?? (await this.#ask(path, decision))) : "both";
        if (answer === "skip") return false;
        if (answer === "both") target = numbered(path, copy++);
        else version = String(error.details.version ?? "");
      }
    }
  }

  #ask(path: string, decision: { answer?: Answer | undefined }): Promise<Answer> {
    return new Promise(resolve => {
      this.#conflict.value = {
        path,
        answer: (answer, all) => {
          if (all) decision.answer = answer;
          this.#conflict.value = undefined;
          resolve(answer);
        },
      };
    });
  }
}

/** Returns the next name to try for a copy: `a/b.tar.gz` becomes `a/b (2).tar.gz`. */
export function numbered(path: string, number: number): string {
  const at = path.lastIndexOf("/") + 1;
  const [, stem = "", extension = ""] = /^(\.?[^.]*)(.*)$/.exec(path.slice(at)) ?? [];
  return `${path.slice(0, at)}${stem} (${number})${extension}`;
}

/** Returns the dropped files, including those in dropped directories. */
export async function droppedFiles(data: DataTransfer): Promise<UploadFile[]> {
  const files: UploadFile[] = [];
  const entries: FileSystemEntry[] = [];
  // This must run synchronously, because the browser empties the list after the event. Files dropped from some programs
  // aren't in a file system.
  for (const item of data.items) {
    const entry = item.webkitGetAsEntry();
    const content = entry ? null : item.getAsFile();
    if (entry) entries.push(entry);
    else if (content) files.push({ path: content.name, content });
  }
  const add = async (entry: FileSystemEntry): Promise<void> => {
    if (files.length >= FILES_MAX) return;
    if (entry.isFile) {
      const content = await new Promise<File>((resolve, reject) =>
        (entry as FileSystemFileEntry).file(resolve, reject),
      );
      files.push({ path: entry.fullPath.replace(/^\//, ""), content });
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      // Browsers return at most 100 entries at a time.
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
        reader.readEntries(resolve, reject),
      );
      if (some.length === 0) return;
      for (const child of some) await add(child);
    }
  };
  for (const entry of entries) await add(entry);
  return files;
}
