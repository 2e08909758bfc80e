// A notebook whose cells show the runs in a code context. Other clients' runs in this context become cells as well.
// This module doesn't use the DOM.

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Disposable } from "../../base/disposables";
import type { DraftSlot } from "../../base/drafts";
import { randomId } from "../../base/random-id";
import { type Cell, type CellKind, draftOf, IDLE, newCell } from "./cell";
import { CellRuns } from "./cell-runs";
import { type NotebookDraft, readDraft } from "./draft";
import { type ExportedCell, notebookText } from "./ipynb";
import type { FileCell, NotebookFile } from "./ipynb-read";
import type { UpdatedCell } from "./ipynb-update";
import { type NotebookBox, NotebookContext } from "./notebook-context";
import type { Output } from "./outputs";

export interface NotebookOptions {
  readonly id: string;
  /** Whether the cells come from a file, so that there are none before `load`. */
  readonly file?: boolean;
  /** Shows an error from a call. */
  readonly problem: (text: string) => void;
}

/** Stores a notebook's draft in the browser. */
export type NotebookSlot = Pick<DraftSlot, "read" | "keep" | "forget" | "dispose">;

/** A cell in the file. */
interface Stored {
  readonly id: string;
  readonly outputs: readonly Output[];
}

export class Notebook implements Disposable {
  readonly id: string;
  readonly cells: Signal<readonly Cell[]> = signal([]);
  readonly context: NotebookContext;
  /** Whether the notebook differs from the file, for example because of other clients' runs. */
  readonly changed: Signal<boolean> = signal(false);
  /** Whether this page has made changes that aren't in the file. */
  readonly edited: Signal<boolean> = signal(false);
  readonly running: ReadonlySignal<boolean> = computed(() =>
    this.cells.value.some(({ state }) => state.value.phase === "running" || state.value.phase === "queued"),
  );
  readonly #runs: CellRuns;
  readonly #options: NotebookOptions;
  /** Undefined until the draft has been restored, so that the draft isn't overwritten. */
  #slot: NotebookSlot | undefined;
  #disposed = false;
  /** Version and cells of the file that this notebook is based on. */
  #version: string | undefined;
  #stored: readonly Stored[] = [];
  /** The draft's ids for the cells in the file. */
  #order: readonly string[] | undefined;
  #generation = 0;
  /** Whether the context was created by this page. */
  #own = false;

  constructor(box: NotebookBox, options: NotebookOptions) {
    this.id = options.id;
    this.#options = options;
    this.context = new NotebookContext({
      box,
      id: options.id,
      runs: runs => this.#runs.adopt(runs),
      created: () => {
        this.#own = true;
        this.save();
      },
      problem: options.problem,
    });
    this.#runs = new CellRuns({
      box,
      context: options.id,
      cells: this.cells,
      matching: options.file === true,
      changed: mine => this.#touch(mine),
      stored: () => this.save(),
    });
  }

  // ---- the file

  /**
   * Shows a file's cells along with their outputs. Cells changed on this page are kept.
   *
   * @param version - The file's version; undefined if it has none.
   * @returns Whether the file has changed since this page started editing it.
   */
  load(file: NotebookFile, version: string | undefined): boolean {
    const same = this.#version === version;
    const keep = this.cells.peek().length > 0 && (same || this.edited.peek());
    const cells = keep ? this.#known(file.cells, same) : file.cells;
    if (file.language && !this.context.info.peek() && !this.edited.peek())
      this.context.language.value = file.language;
    batch(() => {
      if (!keep) this.#replace(cells);
      for (const stored of cells) this.#fill(stored);
    });
    this.#version = version;
    this.#order = undefined;
    this.#stored = cells.map(({ id, outputs }) => ({ id, outputs: outputs.list }));
    if (this.cells.peek().length === 0) this.cells.value = [emptyCell()];
    return keep && !same;
  }

  /** Discards all changes, so that `load` shows the file unchanged. */
  discard(): void {
    this.changed.value = false;
    this.edited.value = false;
    this.#version = undefined;
  }

  /** Returns the cells for `updatedNotebook`, and a number that changes with each change. */
  snapshot(): { readonly cells: readonly UpdatedCell[]; readonly generation: number } {
    const cells = this.#exported().map((cell): UpdatedCell => {
      const origin = this.#stored.findIndex(({ id }) => id === cell.id);
      const outputsKept = this.#stored[origin]?.outputs === cell.outputs;
      return { ...cell, origin: origin < 0 ? undefined : origin, outputsKept };
    });
    return { cells, generation: this.#generation };
  }

  /** Called once the file contains the cells from a snapshot. `generation` is the snapshot's number. */
  saved(cells: readonly UpdatedCell[], generation: number, version: string | undefined): void {
    this.#stored = cells.map(({ id, outputs }) => ({ id, outputs }));
    this.#version = version;
    if (generation === this.#generation) {
      this.changed.value = false;
      this.edited.value = false;
    }
    this.save();
  }

  /** Returns the text of a new notebook file. */
  export(): string {
    return notebookText(
      this.#exported(),
      this.context.language.peek(),
      this.context.info.peek()?.kernel ?? "",
    );
  }

  #exported(): ExportedCell[] {
    return this.cells.peek().map(({ id, kind, source, state, outputs }) => ({
      id,
      kind: kind.peek(),
      source: source.peek(),
      count: state.peek().count,
      outputs: outputs.peek(),
    }));
  }

  /** Assigns the notebook's ids to cells read from a file, because files before nbformat 4.5 contain no cell ids. */
  #known(cells: readonly FileCell[], same: boolean): readonly FileCell[] {
    const order = same ? this.#order : undefined;
    if (order?.length === cells.length)
      return cells.map((cell, index) => ({ ...cell, id: order[index] ?? cell.id }));
    const ids = new Map(this.cells.peek().map(({ id, source }) => [id, source.peek()]));
    // If the file has no ids, there may now be a different cell at this position.
    return cells.map(cell =>
      cell.named || ids.get(cell.id) === cell.source ? cell : { ...cell, id: `file-${cell.id}` },
    );
  }

  #replace(cells: readonly FileCell[]): void {
    for (const cell of this.cells.peek()) this.#runs.drop(cell);
    this.cells.value = cells.map(newCell);
    this.changed.value = false;
    this.edited.value = false;
  }

  #fill({ id, count, outputs }: FileCell): void {
    const cell = this.cells.peek().find(each => each.id === id);
    if (!cell || cell.cleared || cell.kind.peek() !== "code" || cell.state.peek().phase !== "idle") return;
    this.#runs.show(cell, outputs);
    cell.state.value = { phase: "idle", count };
  }

  // ---- cells

  /** Whether the context was created by this page. */
  get ownsContext(): boolean {
    return this.#own;
  }

  /** Whether closing the notebook would lose anything. */
  get empty(): boolean {
    return this.cells.peek().every(({ source, run }) => source.peek().trim() === "" && run === undefined);
  }

  /** Adds a cell before index `at` and returns it. */
  insert(at: number, kind: CellKind = "code", source = ""): Cell {
    const cell = { ...emptyCell(), kind: signal(kind), source: signal(source) };
    this.cells.value = this.cells.peek().toSpliced(at, 0, cell);
    this.#touch(true);
    return cell;
  }

  /** Removes a cell. If it was the only one, it's replaced by an empty cell. */
  remove(cell: Cell): void {
    this.#runs.drop(cell);
    this.cells.value = this.cells.peek().filter(each => each !== cell);
    if (this.cells.peek().length === 0) this.insert(0);
    this.#touch(true);
  }

  move(cell: Cell, by: 1 | -1): void {
    const cells = this.cells.peek();
    const at = cells.indexOf(cell);
    const to = at + by;
    if (at < 0 || to < 0 || to >= cells.length) return;
    this.cells.value = cells.toSpliced(at, 1).toSpliced(to, 0, cell);
    this.#touch(true);
  }

  edit(cell: Cell, source: string): void {
    cell.source.value = source;
    this.#touch(true);
  }

  convert(cell: Cell, kind: CellKind): void {
    cell.kind.value = kind;
    if (kind === "text") this.#clear(cell);
    this.#touch(true);
  }

  clearOutputs(): void {
    for (const cell of this.cells.peek())
      if (cell.state.peek().phase === "ended" || cell.state.peek().phase === "idle") this.#clear(cell);
    this.#touch(true);
  }

  #clear(cell: Cell): void {
    this.#runs.reset(cell);
    cell.cleared = true;
  }

  // ---- runs

  /**
   * Runs a cell after the cells already waiting, creating the context first. Does nothing if the cell is already
   * running or waiting.
   */
  async run(cell: Cell): Promise<void> {
    const { phase } = cell.state.peek();
    if (cell.kind.peek() !== "code" || !cell.source.peek().trim()) return;
    if (phase === "queued" || phase === "running") return;
    const { outputs, state } = cell;
    const before = { outputs: outputs.peek(), state: state.peek() };
    this.#runs.reset(cell);
    cell.by.value = undefined;
    cell.state.value = { phase: "queued" };
    if (!(await this.context.create())) {
      batch(() => {
        outputs.value = before.outputs;
        state.value = before.outputs.length > 0 ? before.state : IDLE;
      });
      return;
    }
    if (!this.cells.peek().includes(cell)) return;
    this.#touch(true);
    this.#runs.start(cell);
  }

  /** Sends the requests for runs that hadn't started when the page was closed, once the context is known. */
  resume(): void {
    for (const cell of this.cells.peek()) {
      const { request } = cell;
      cell.request = undefined;
      if (!request || !this.context.info.peek()) continue;
      cell.state.value = { phase: "queued" };
      this.#runs.start(cell, request);
    }
  }

  async runAll(): Promise<void> {
    for (const cell of this.cells.peek()) await this.run(cell);
  }

  /** Sends a line of input that a cell's run is waiting for. */
  async answer(cell: Cell, value: string): Promise<void> {
    const { input } = cell.state.peek();
    if (!input || !cell.run) return;
    cell.state.value = { ...cell.state.peek(), input: undefined };
    await this.context.answer(cell.run, input.request, value);
  }

  // ---- the draft

  /**
   * Restores a draft's cells, and stores later changes in the draft. The notebook must not have any cells yet.
   *
   * @returns Whether the notebook is still open.
   */
  async restore(slot: NotebookSlot): Promise<boolean> {
    const kept = await slot.read();
    if (this.#disposed) {
      slot.dispose();
      return false;
    }
    const draft = kept && readDraft(kept.text);
    if (draft) this.#show(draft, kept?.version);
    if (this.cells.peek().length === 0 && !this.#options.file) this.cells.value = [emptyCell()];
    this.#slot = slot;
    return true;
  }

  /** Stores the cells after a short delay. */
  save(): void {
    this.#slot?.keep(() => JSON.stringify(this.#draft()), this.#version);
  }

  /** Removes the draft, and stores no further changes. */
  async forget(): Promise<void> {
    const slot = this.#slot;
    this.#slot = undefined;
    await slot?.forget();
    slot?.dispose();
  }

  dispose(): void {
    this.#disposed = true;
    this.#slot?.dispose();
    this.context.dispose();
    this.#runs.dispose();
  }

  #touch(mine: boolean): void {
    this.#generation++;
    this.changed.value = true;
    if (mine) this.edited.value = true;
    this.save();
  }

  #draft(): NotebookDraft {
    return {
      language: this.context.language.peek(),
      own: this.#own,
      removed: this.#runs.hidden,
      cells: this.cells.peek().map(draftOf),
      changed: this.changed.peek(),
      edited: this.edited.peek(),
      order: this.#stored.map(({ id }) => id),
    };
  }

  #show(draft: NotebookDraft, version: string | undefined): void {
    if (draft.language) this.context.language.value = draft.language;
    this.#own = draft.own;
    for (const run of draft.removed) this.#runs.hide(run);
    this.cells.value = draft.cells.map(newCell);
    this.changed.value = draft.changed;
    this.edited.value = draft.edited;
    this.#version = version;
    this.#order = draft.order;
  }
}

function emptyCell(): Cell {
  return newCell({ id: randomId().slice(0, 12), kind: "code", source: "" });
}
