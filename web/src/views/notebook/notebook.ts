// A notebook: cells over the runs of one code context. Runs of others in this context become cells too. It knows no DOM.

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type Disposable, DisposableList } from "../../base/disposables";
import { randomId } from "../../base/random-id";
import type { Namespace } from "../../client/sandbox";
import { HawseError } from "../../wire/errors";
import type {
  CodeContextInfo,
  CodeInputRequest,
  CodeRunInfo,
  CodeRunResult,
  CodeWatched,
} from "../../wire/methods";
import { follow } from "../follow";
import { notebookText } from "./ipynb";
import { type Output, Outputs } from "./outputs";
import { RunFollower } from "./run";

export type CellKind = "code" | "text";

export interface CellState {
  readonly phase: "idle" | "queued" | "running" | "ended";
  readonly status?: CodeRunResult["status"] | undefined;
  readonly count?: number | undefined;
  /** Seconds from its start to its end. */
  readonly duration?: number | undefined;
  /** Why it did not run, or how its executor ended. */
  readonly problem?: string | undefined;
  /** The program waits for a line. */
  readonly input?: CodeInputRequest | undefined;
}

export interface Cell {
  readonly id: string;
  readonly kind: Signal<CellKind>;
  readonly source: Signal<string>;
  readonly state: Signal<CellState>;
  readonly outputs: Signal<readonly Output[]>;
  /** Id of its last run. */
  run: string | undefined;
  /** Who has begun the run, if it was not this page. */
  readonly by: Signal<string | undefined>;
}

/** What is kept of a cell, for a reload of the page. */
interface Draft {
  readonly id: string;
  readonly kind: CellKind;
  readonly source: string;
  readonly run?: string | undefined;
  readonly by?: string | undefined;
}

export interface NotebookBox {
  readonly code: Namespace<"code">;
}

export interface NotebookOptions {
  readonly id: string;
  /** Keeps the cells for a reload. Any call may throw: the storage can be full or forbidden. */
  readonly storage: () => Storage;
  readonly storageKey: string;
  /** Shows an error of a call. */
  readonly problem: (text: string) => void;
}

/** Cells of a notebook: a run of others beyond it is not shown. */
export const CELLS_MAX = 500;
/** Milliseconds within which outputs and sources are collected before they are drawn or stored. */
const DRAW = 40;
const SAVE = 400;
/** Ids of runs that are not shown. */
const HIDDEN_MAX = 256;
const IDLE: CellState = { phase: "idle" };

export class Notebook implements Disposable {
  readonly id: string;
  readonly cells: Signal<readonly Cell[]> = signal([]);
  /** Undefined: it does not exist yet, or any more. */
  readonly context: Signal<CodeContextInfo | undefined> = signal(undefined);
  /** Language of a new context. */
  readonly language = signal("python");
  /** What the context is being, besides running: for people. */
  readonly busy = signal("");
  readonly running: ReadonlySignal<boolean> = computed(() =>
    this.cells.value.some(({ state }) => state.value.phase === "running" || state.value.phase === "queued"),
  );
  readonly #box: NotebookBox;
  readonly #options: NotebookOptions;
  readonly #disposables = new DisposableList();
  readonly #followers = new Map<Cell, RunFollower>();
  readonly #outputs = new Map<Cell, Outputs>();
  /** Cells whose runs have no id yet: a run that is not known may be theirs. */
  readonly #unnamed = new Set<Cell>();
  /** Runs that are not to be shown: those of removed cells and earlier ones of the cells. */
  readonly #removed = new Set<string>();
  #latest: CodeWatched | undefined;
  #watch: Disposable | undefined;
  #saving: ReturnType<typeof setTimeout> | undefined;
  #creating: Promise<void> | undefined;
  /** This page has made the context. */
  #own = false;

  constructor(box: NotebookBox, options: NotebookOptions) {
    this.#box = box;
    this.#options = options;
    this.id = options.id;
    this.#restore();
    if (this.cells.peek().length === 0) this.insert(0);
  }

  /** Shows the context if it exists. Throws HawseError. */
  async open(): Promise<void> {
    try {
      this.context.value = await this.#box.code.get({ context: this.id });
    } catch (error) {
      if (error instanceof HawseError && error.code === "not_found") return;
      throw error;
    }
    this.language.value = this.context.value.language;
    this.#follow();
  }

  get ownsContext(): boolean {
    return this.#own;
  }

  /** Whether there is anything that would be lost. */
  get empty(): boolean {
    return this.cells.peek().every(({ source, run }) => source.peek().trim() === "" && run === undefined);
  }

  // ---- cells

  /** Adds a cell before the index `at` and returns it. */
  insert(at: number, kind: CellKind = "code", source = ""): Cell {
    const cell = newCell({ id: randomId().slice(0, 12), kind, source });
    this.cells.value = this.cells.peek().toSpliced(at, 0, cell);
    this.save();
    return cell;
  }

  /** Removes a cell; the last one is replaced by an empty one. */
  remove(cell: Cell): void {
    this.#followers.get(cell)?.dispose();
    this.#followers.delete(cell);
    this.#outputs.delete(cell);
    this.#unnamed.delete(cell);
    this.#hide(cell.run);
    this.cells.value = this.cells.peek().filter(each => each !== cell);
    if (this.cells.peek().length === 0) this.insert(0);
    this.save();
  }

  move(cell: Cell, by: 1 | -1): void {
    const cells = this.cells.peek();
    const at = cells.indexOf(cell);
    const to = at + by;
    if (at < 0 || to < 0 || to >= cells.length) return;
    this.cells.value = cells.toSpliced(at, 1).toSpliced(to, 0, cell);
    this.save();
  }

  edit(cell: Cell, source: string): void {
    cell.source.value = source;
    this.save();
  }

  convert(cell: Cell, kind: CellKind): void {
    cell.kind.value = kind;
    if (kind === "text") this.#reset(cell);
    this.save();
  }

  clearOutputs(): void {
    for (const cell of this.cells.peek())
      if (cell.state.peek().phase === "ended" || cell.state.peek().phase === "idle") this.#reset(cell);
    this.save();
  }

  // ---- runs

  /** Runs a cell after those that wait; the context is created first. Does nothing for a cell that runs or waits. */
  async run(cell: Cell): Promise<void> {
    const { phase } = cell.state.peek();
    if (cell.kind.peek() !== "code" || !cell.source.peek().trim()) return;
    if (phase === "queued" || phase === "running") return;
    this.#reset(cell);
    cell.by.value = undefined;
    cell.state.value = { phase: "queued" };
    if (!(await this.#attempt("Starting…", () => this.#createOnce()))) {
      this.#creating = undefined; // a later run tries it again
      cell.state.value = IDLE;
      return;
    }
    if (!this.cells.peek().includes(cell)) return;
    this.#unnamed.add(cell);
    this.#start(cell, { context: this.id, source: cell.source.peek() });
  }

  async runAll(): Promise<void> {
    for (const cell of this.cells.peek()) await this.run(cell);
  }

  interrupt(): Promise<boolean> {
    return this.#attempt("", () => this.#box.code.interrupt({ context: this.id }));
  }

  restart(): Promise<boolean> {
    return this.#attempt("Restarting…", async () => {
      if (this.context.peek()) this.context.value = await this.#box.code.restart({ context: this.id });
    });
  }

  /** Ends the context. */
  end(): Promise<boolean> {
    return this.#attempt("", () => this.#box.code.delete({ context: this.id }));
  }

  /** Sends the line that the run of a cell waits for. */
  async answer(cell: Cell, value: string): Promise<void> {
    const { input } = cell.state.peek();
    if (!input || !cell.run) return;
    cell.state.value = { ...cell.state.peek(), input: undefined };
    const call = () => this.#box.code.answer({ run: cell.run ?? "", request: input.request, value });
    await this.#attempt("", call);
  }

  /** Returns completions at a position in the code, in UTF-16 units; undefined if the context does not answer. */
  async complete(
    source: string,
    cursor: number,
  ): Promise<{ from: number; matches: readonly string[] } | undefined> {
    if (this.context.peek()?.state !== "running") return undefined;
    const position = [...source.slice(0, cursor)].length;
    try {
      const params = { context: this.id, source, cursor: position };
      const { matches, start } = await this.#box.code.complete(params, { timeout: 3 });
      return { from: [...source].slice(0, start).join("").length, matches };
    } catch (error) {
      if (error instanceof HawseError) return undefined; // it is busy, for example
      throw error;
    }
  }

  export(): string {
    const cells = this.cells.peek().map(({ id, kind, source, state, outputs }) => ({
      id,
      kind: kind.peek(),
      source: source.peek(),
      count: state.peek().count,
      outputs: outputs.peek(),
    }));
    return notebookText(cells, this.language.peek(), this.context.peek()?.kernel ?? "");
  }

  // ---- the draft

  /** Stores the cells soon. */
  save(): void {
    this.#saving ??= setTimeout(() => this.#saveNow(), SAVE);
  }

  /** Stores the cells now: the page may be about to close. */
  flush(): void {
    if (this.#saving !== undefined) this.#saveNow();
  }

  /** Removes what is stored. */
  forget(): void {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    attempted(() => this.#options.storage().removeItem(this.#options.storageKey));
  }

  dispose(): void {
    this.flush();
    this.#watch?.dispose();
    for (const follower of this.#followers.values()) follower.dispose();
    this.#disposables.dispose();
  }

  /** The server keeps 64 runs, so ids of older ones are not needed. */
  #hide(run: string | undefined): void {
    if (run) this.#removed.add(run);
    for (const oldest of this.#removed) {
      if (this.#removed.size <= HIDDEN_MAX) break;
      this.#removed.delete(oldest);
    }
  }

  #saveNow(): void {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    const cells = this.cells.peek().map(
      ({ id, kind, source, run, by }): Draft => ({
        id,
        kind: kind.peek(),
        source: source.peek(),
        run,
        by: by.peek(),
      }),
    );
    const text = JSON.stringify({
      language: this.language.peek(),
      own: this.#own,
      removed: [...this.#removed],
      cells,
    });
    attempted(() => this.#options.storage().setItem(this.#options.storageKey, text));
  }

  #restore(): void {
    const stored = attempted(() =>
      JSON.parse(this.#options.storage().getItem(this.#options.storageKey) ?? ""),
    ) as { language?: unknown; own?: unknown; removed?: unknown; cells?: unknown } | undefined;
    if (typeof stored !== "object" || stored === null) return;
    if (typeof stored.language === "string") this.language.value = stored.language;
    this.#own = stored.own === true;
    if (Array.isArray(stored.removed)) for (const run of stored.removed) this.#removed.add(String(run));
    if (Array.isArray(stored.cells)) this.cells.value = stored.cells.filter(isDraft).map(newCell);
  }

  // ---- the context

  #createOnce(): Promise<void> {
    this.#creating ??= this.#create();
    return this.#creating;
  }

  async #create(): Promise<void> {
    if (this.context.peek()) return;
    try {
      const params = { id: this.id, language: this.language.peek() };
      this.context.value = await this.#box.code.create(params);
      this.#own = true;
      this.save();
    } catch (error) {
      if (!(error instanceof HawseError) || error.code !== "conflict") throw error;
      this.context.value = await this.#box.code.get({ context: this.id });
    }
    this.#follow();
  }

  #follow(): void {
    this.#watch?.dispose();
    const gone = () => {
      this.context.value = undefined;
      this.#creating = undefined;
      this.#latest = undefined;
    };
    this.#watch = follow({
      open: () => this.#box.code.watch({ context: this.id }),
      item: item => {
        if (item.event !== "changed") return;
        this.#latest = item.value;
        batch(() => {
          this.context.value = item.value.context;
          this.language.value = item.value.context.language;
          this.#adopt();
        });
      },
      ended: gone,
      failed: gone,
    });
  }

  /** Attaches cells to the runs that are kept, and makes cells of the runs of others. */
  #adopt(): void {
    if (!this.#latest) return;
    const byRun = new Map(this.cells.peek().map(cell => [cell.run, cell]));
    for (const info of this.#latest.runs) {
      const known = byRun.get(info.run);
      if (known) {
        if (known.kind.peek() === "code" && !this.#followers.has(known)) this.#attach(known, info);
      } else if (this.#unnamed.size === 0 && !this.#removed.has(info.run)) this.#addOthers(info);
    }
  }

  #addOthers(info: CodeRunInfo): void {
    const cells = this.cells.peek();
    if (cells.length >= CELLS_MAX || info.state === "waiting") return;
    const cell = newCell({
      id: randomId().slice(0, 12),
      kind: "code",
      source: "",
      run: info.run,
      by: info.by || info.kind || "another client",
    });
    // An empty cell at the end stays there: the user is about to write in it.
    const last = cells.at(-1);
    const at = last && !last.run && !last.source.peek().trim() ? cells.length - 1 : cells.length;
    this.cells.value = cells.toSpliced(at, 0, cell);
    this.save();
    this.#attach(cell, info);
  }

  #attach(cell: Cell, info: CodeRunInfo): void {
    cell.state.value = { phase: info.state === "waiting" ? "queued" : "running" };
    this.#start(cell, { context: this.id, run: info.run });
  }

  #start(cell: Cell, which: ConstructorParameters<typeof RunFollower>[1]): void {
    const outputs = new Outputs();
    let drawing: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      clearTimeout(drawing);
      drawing = undefined;
      if (this.#followers.get(cell) === follower) cell.outputs.value = outputs.list;
    };
    const changed = () => {
      drawing ??= setTimeout(draw, DRAW);
    };
    const set = (state: Partial<CellState>) => {
      if (this.#followers.get(cell) === follower) cell.state.value = { ...cell.state.peek(), ...state };
    };
    const named = () => {
      if (this.#unnamed.delete(cell)) this.#adopt();
    };
    const follower: RunFollower = new RunFollower(this.#box, which, {
      named: (run, source) => {
        cell.run = run;
        if (source !== undefined && !cell.source.peek()) cell.source.value = source;
        named();
        this.save();
      },
      began: () => set({ phase: "running" }),
      text: (stream, text) => {
        outputs.text(stream, text);
        changed();
      },
      display: (value, data) => {
        outputs.display(value, data);
        changed();
      },
      update: (value, data) => {
        if (outputs.update(value, data)) changed();
        else this.#updateOthers(value, data);
      },
      clear: wait => {
        outputs.clear(wait);
        changed();
      },
      error: error => {
        outputs.error(error);
        changed();
      },
      input: input => {
        draw();
        set({ input });
      },
      ended: ({ status, execution_count, duration, exit, error }) => {
        if (error && !outputs.list.some(({ kind }) => kind === "error")) outputs.error(error);
        draw();
        set({
          phase: "ended",
          status,
          count: execution_count ?? undefined,
          duration,
          input: undefined,
          problem: exit ? `The program ended with ${exit.signal ?? `code ${exit.code}`}.` : undefined,
        });
      },
      failed: error => {
        named();
        draw();
        set({ phase: "ended", status: undefined, input: undefined, problem: error.message || error.code });
      },
    });
    this.#followers.set(cell, follower);
    this.#outputs.set(cell, outputs);
  }

  /** A display may be updated by the code of another cell. */
  #updateOthers(...update: Parameters<Outputs["update"]>): void {
    for (const [cell, outputs] of this.#outputs)
      if (outputs.update(...update)) cell.outputs.value = outputs.list;
  }

  #reset(cell: Cell): void {
    this.#followers.get(cell)?.dispose();
    this.#followers.delete(cell);
    this.#outputs.delete(cell);
    this.#unnamed.delete(cell);
    this.#hide(cell.run);
    cell.run = undefined;
    cell.outputs.value = [];
    cell.state.value = IDLE;
  }

  async #attempt(busy: string, work: () => Promise<unknown>): Promise<boolean> {
    this.busy.value = busy;
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      if (error.code !== "cancelled" && error.code !== "conflict")
        this.#options.problem(error.message || error.code);
      return false;
    } finally {
      this.busy.value = "";
    }
  }
}

function newCell({ id, kind, source, run, by }: Draft): Cell {
  return {
    id,
    kind: signal(kind),
    source: signal(source),
    state: signal<CellState>(IDLE),
    outputs: signal<readonly Output[]>([]),
    run,
    by: signal(by),
  };
}

function isDraft(value: unknown): value is Draft {
  if (typeof value !== "object" || value === null) return false;
  const { id, kind, source, run, by } = value as Record<string, unknown>;
  const text = (each: unknown) => each === undefined || typeof each === "string";
  return (
    typeof id === "string" &&
    typeof source === "string" &&
    (kind === "code" || kind === "text") &&
    text(run) &&
    text(by)
  );
}

function attempted<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined; // the storage is full or forbidden
  }
}
