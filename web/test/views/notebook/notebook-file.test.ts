import { expect, test } from "vitest";
import { Notebook } from "../../../src/views/notebook/notebook";
import type { NotebookBox } from "../../../src/views/notebook/notebook-context";
import { type NotebookFileBox, NotebookFileStore } from "../../../src/views/notebook/notebook-file";
import { HawseError } from "../../../src/wire/errors";

const notebookOf = (...sources: string[]) =>
  JSON.stringify({
    cells: sources.map((source, index) => ({
      cell_type: "code",
      id: `c${index}`,
      metadata: {},
      source,
      outputs: [],
    })),
    metadata: { own: 1 },
    nbformat: 4,
    nbformat_minor: 5,
  });

/** A sandbox with one file. */
class Disk {
  version = 1;
  readonly notebook: Notebook;
  readonly store: NotebookFileStore;
  bytes: Uint8Array;

  constructor(text: string | Uint8Array) {
    this.bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    this.notebook = new Notebook({} as NotebookBox, {
      id: "n",
      file: true,
      problem: () => {},
    });
    this.store = new NotebookFileStore(this as unknown as NotebookFileBox, this.notebook, "/w/a.ipynb");
  }

  readonly file = { stat: async () => ({ size: this.bytes.length, version: `v${this.version}` }) };

  async *read() {
    yield this.bytes.subarray(0, 7);
    yield this.bytes.subarray(7);
  }

  async write(_path: string, text: string, { if_version }: { if_version?: string }) {
    if (if_version !== undefined && if_version !== `v${this.version}`)
      throw new HawseError("conflict", "changed");
    this.change(text);
    return { version: `v${this.version}` };
  }

  change(text: string): void {
    this.bytes = new TextEncoder().encode(text);
    this.version++;
  }

  get sources(): string[] {
    const file = JSON.parse(new TextDecoder().decode(this.bytes));
    return file.cells.map(({ source }: { source: string | string[] }) => [source].flat().join(""));
  }

  edit(index: number, source: string): void {
    const cell = this.notebook.cells.value[index];
    if (cell) this.notebook.edit(cell, source);
  }
}

test("a change is saved, and a second one after it", async () => {
  const disk = new Disk(notebookOf("a", "b"));
  expect(await disk.store.load()).toBe(0);
  disk.edit(1, "b2");
  await disk.store.save();
  expect([disk.sources, disk.notebook.changed.value]).toEqual([["a", "b2"], false]);
  disk.notebook.insert(1, "code", "new");
  await disk.store.save();
  expect([disk.sources, disk.version]).toEqual([["a", "new", "b2"], 3]);
});

test("a changed file is overwritten only on demand, and its other parts stay as they are", async () => {
  const disk = new Disk(notebookOf("a"));
  await disk.store.load();
  disk.edit(0, "mine");
  disk.change(notebookOf("theirs").replace('"own":1', '"own":2'));
  await disk.store.save();
  expect([disk.sources, disk.store.stale.value, disk.store.saving.value]).toEqual([["theirs"], true, false]);
  expect(await disk.store.compare()).toEqual({ before: "# %%\ntheirs\n", after: "# %%\nmine\n" });
  await disk.store.save(true);
  expect([disk.sources, disk.store.stale.value]).toEqual([["mine"], false]);
  expect(new TextDecoder().decode(disk.bytes)).toContain('"own":2');
});

test("the changes here are dropped on demand", async () => {
  const disk = new Disk(notebookOf("a"));
  await disk.store.load();
  disk.edit(0, "mine");
  disk.change(notebookOf("theirs"));
  await disk.store.save();
  await disk.store.discard();
  expect(disk.notebook.cells.value.map(({ source }) => source.value)).toEqual(["theirs"]);
  expect([disk.store.stale.value, disk.notebook.changed.value]).toEqual([false, false]);
});

test("bytes that are not UTF-8 are refused, since they could not be saved as they were", async () => {
  const bytes = new TextEncoder().encode(notebookOf("a?"));
  bytes[bytes.indexOf(63)] = 0xff;
  await expect(new Disk(bytes).store.load()).rejects.toThrow("not valid UTF-8");
});
