// The runs of a notebook's cells: those started by this page, and other clients' runs in the same context.

import type { Signal } from "@preact/signals";
import type { Disposable } from "../../base/disposables";
import { randomId } from "../../base/random-id";
import {
  type CodeCalls,
  RunFollower,
  type RunListener,
  type RunRequest,
  type Which,
} from "../../client/code-run";
import { errorText } from "../../client/error-text";
import type { CodeRunInfo } from "../../wire/methods";
import { type Cell, type CellRequest, type CellState, IDLE, newCell } from "./cell";
import { Outputs } from "./outputs";

export interface CellRunsOptions {
  readonly box: CodeCalls;
  readonly context: string;
  readonly cells: Signal<readonly Cell[]>;
  /** Whether another client's run is shown in the cell with the same source. */
  readonly matching: boolean;
  /** Called when outputs or runs have changed. `mine` is true if this page has run a cell. */
  readonly changed: (mine: boolean) => void;
  /** Called when a cell's run or request has changed; these are stored in the draft but not in the file. */
  readonly stored: () => void;
}

/** Maximum number of cells in a notebook; if there are more, further runs by other clients aren't shown. */
export const CELLS_MAX = 500;
/** How long to collect outputs before drawing them, in milliseconds. */
const DRAW = 40;
/** Maximum number of hidden run ids to keep. */
const HIDDEN_MAX = 256;

/** The cell that shows a run; for another client's run, the cell is unknown until the run's source is known. */
interface Place {
  cell: Cell;
}

export class CellRuns implements Disposable {
  readonly #options: CellRunsOptions;
  readonly #followers = new Map<Cell, RunFollower>();
  readonly #outputs = new Map<Cell, Outputs>();
  /** Cells whose runs have no id yet. An unknown run may belong to one of them. */
  readonly #unnamed = new Set<Cell>();
  /** Ids of hidden runs: runs of cells that were removed, and cells' earlier runs. */
  readonly #hidden = new Set<string>();
  #latest: readonly CodeRunInfo[] = [];

  constructor(options: CellRunsOptions) {
    this.#options = options;
  }

  get hidden(): readonly string[] {
    return [...this.#hidden];
  }

  /** The server keeps 64 runs, so the ids of older runs aren't needed. */
  hide(run: string | undefined): void {
    if (run) this.#hidden.add(run);
    for (const oldest of this.#hidden) {
      if (this.#hidden.size <= HIDDEN_MAX) break;
      this.#hidden.delete(oldest);
    }
  }

  /** Runs a cell's source, or repeats the request made by an earlier page. */
  start(cell: Cell, earlier?: CellRequest): void {
    const request = earlier ?? { key: randomId(), source: cell.source.peek(), time: Date.now() };
    cell.cleared = false;
    cell.request = request;
    const { key, source, time } = request;
    const age = earlier ? { age: Math.max(0, Date.now() - time) / 1000 } : {};
    this.#follow({ cell }, { context: this.#options.context, source, stdin: true }, { key, ...age });
  }

  /** Shows outputs that don't belong to any run in this context. */
  show(cell: Cell, outputs: Outputs): void {
    this.#outputs.set(cell, outputs);
    cell.outputs.value = outputs.list;
  }

  /** Attaches cells to the context's runs, and adds cells for other clients' runs. */
  adopt(runs: readonly CodeRunInfo[]): void {
    this.#latest = runs;
    const byRun = new Map(this.#options.cells.peek().map(cell => [cell.run, cell]));
    for (const [cell] of this.#followers) byRun.set(cell.run, cell); // includes cells whose runs have no id yet
    for (const info of runs) {
      const known = byRun.get(info.run);
      if (known) {
        if (known.kind.peek() === "code" && !this.#followers.has(known)) this.#attach(known, info);
      } else if (this.#unnamed.size === 0 && !this.#hidden.has(info.run)) this.#addOthers(info);
    }
  }

  /** Removes a cell's run and outputs. */
  reset(cell: Cell): void {
    this.drop(cell);
    cell.run = undefined;
    cell.request = undefined;
    cell.outputs.value = [];
    cell.state.value = IDLE;
  }

  /** Ends the subscriptions of a cell that is being removed. */
  drop(cell: Cell): void {
    this.#followers.get(cell)?.dispose();
    this.#followers.delete(cell);
    this.#outputs.delete(cell);
    this.#unnamed.delete(cell);
    this.hide(cell.run);
  }

  dispose(): void {
    for (const follower of this.#followers.values()) follower.dispose();
  }

  #addOthers(info: CodeRunInfo): void {
    const { cells, matching } = this.#options;
    if (info.state === "waiting" || cells.peek().length >= CELLS_MAX) return;
    const by = info.by || info.kind || "another client";
    const cell = newCell({ id: randomId().slice(0, 12), kind: "code", source: "", run: info.run, by });
    if (!matching) this.#insert(cell);
    this.#attach(cell, info);
  }

  /** An empty cell at the end stays there, because the user may be about to type in it. */
  #insert(cell: Cell): void {
    const cells = this.#options.cells.peek();
    const last = cells.at(-1);
    const at = last && !last.run && !last.source.peek().trim() ? cells.length - 1 : cells.length;
    this.#options.cells.value = cells.toSpliced(at, 0, cell);
    this.#options.changed(false);
  }

  /** Assigns another client's run to the cell with the same source, or to a new cell. */
  #settle(place: Place, source: string): void {
    const { cell } = place;
    const cells = this.#options.cells.peek();
    if (cells.includes(cell)) return;
    const same = cells.find(
      each =>
        each.kind.peek() === "code" &&
        each.source.peek().trimEnd() === source.trimEnd() &&
        !/queued|running/.test(each.state.peek().phase),
    );
    if (!same) {
      this.#insert(cell);
      return;
    }
    const [follower, outputs] = [this.#followers.get(cell), this.#outputs.get(cell)];
    this.#followers.delete(cell);
    this.#outputs.delete(cell);
    this.#followers.get(same)?.dispose();
    this.hide(same.run);
    if (follower) this.#followers.set(same, follower);
    if (outputs) this.#outputs.set(same, outputs);
    same.run = cell.run;
    same.by.value = cell.by.peek();
    same.cleared = false;
    same.state.value = { ...same.state.peek(), phase: "running" };
    place.cell = same;
  }

  #attach(cell: Cell, info: CodeRunInfo): void {
    cell.state.value = { ...cell.state.peek(), phase: info.state === "waiting" ? "queued" : "running" };
    this.#follow({ cell }, { context: this.#options.context, run: info.run });
  }

  #follow(place: Place, which: Which, request?: RunRequest): void {
    const outputs = new Outputs();
    const first = place.cell;
    const { box } = this.#options;
    let follower: RunFollower | undefined;
    const current = () => follower !== undefined && this.#followers.get(place.cell) === follower;
    const named = (run: string, source: string | undefined) => {
      place.cell.run = run;
      if (source !== undefined && !place.cell.source.peek()) place.cell.source.value = source;
      if (source !== undefined) this.#settle(place, source);
      this.#name(first);
      this.#options.stored();
    };
    const requested = () => this.#unnamed.add(first);
    const listener = this.#listener(place, outputs, { current, requested, named, mine: "source" in which });
    follower = new RunFollower(box, which, listener, request);
    this.#followers.set(place.cell, follower);
    this.#outputs.set(place.cell, outputs);
  }

  #name(cell: Cell): void {
    if (this.#unnamed.delete(cell)) this.adopt(this.#latest);
  }

  #listener(
    place: Place,
    outputs: Outputs,
    {
      current,
      requested,
      named,
      mine,
    }: Pick<RunListener, "requested" | "named"> & {
      current: () => boolean;
      mine: boolean;
    },
  ): RunListener {
    let drawing: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      clearTimeout(drawing);
      drawing = undefined;
      if (!current()) return;
      place.cell.outputs.value = outputs.list;
      if (mine) this.#options.changed(true);
    };
    const later = () => {
      drawing ??= setTimeout(draw, DRAW);
    };
    const started = () => {
      if (!current() || !place.cell.request) return;
      place.cell.request = undefined;
      this.#options.stored();
    };
    const set = (state: Partial<CellState>) => {
      if (current()) place.cell.state.value = { ...place.cell.state.peek(), ...state };
    };
    return {
      requested,
      named,
      began: () => {
        set({ phase: "running" });
        started();
      },
      text: (stream, text) => {
        outputs.text(stream, text);
        later();
      },
      display: (value, data) => {
        outputs.display(value, data);
        later();
      },
      update: (value, data) => {
        if (outputs.update(value, data)) later();
        else this.#updateOthers(value, data);
      },
      clear: wait => {
        outputs.clear(wait);
        later();
      },
      error: error => {
        outputs.error(error);
        later();
      },
      input: input => {
        draw();
        set({ input });
      },
      ended: ({ status, execution_count, duration, exit, error }) => {
        if (error && !outputs.list.some(({ kind }) => kind === "error")) outputs.error(error);
        draw();
        const count = execution_count ?? undefined;
        // The file already contains another client's run if the cell in the file has the same run number.
        if (current() && !mine && (count === undefined || count !== place.cell.state.peek().count))
          this.#options.changed(false);
        const problem = exit ? `The program ended with ${exit.signal ?? `code ${exit.code}`}.` : undefined;
        set({ phase: "ended", status, count, duration, input: undefined, problem });
      },
      failed: error => {
        this.#name(place.cell);
        started();
        draw();
        // Drop the run if it was never assigned to a cell.
        if (!this.#options.cells.peek().includes(place.cell)) this.drop(place.cell);
        set({ phase: "ended", status: undefined, input: undefined, problem: errorText(error) });
      },
    };
  }

  /** Code in another cell can update a display. */
  #updateOthers(...update: Parameters<Outputs["update"]>): void {
    for (const [cell, outputs] of this.#outputs)
      if (outputs.update(...update)) cell.outputs.value = outputs.list;
  }
}
