import { expect, test, vi } from "vitest";
import type { KeptDraft } from "../../../src/base/drafts";
import { Notebook, type NotebookSlot } from "../../../src/views/notebook/notebook";
import type { NotebookBox } from "../../../src/views/notebook/notebook-context";
import { Outputs } from "../../../src/views/notebook/outputs";
import { HawseError } from "../../../src/wire/errors";

type Item = { event: string; value: unknown };

/** A stream whose items the test sends. */
class Stream {
  #items: Item[] = [];
  #wake: () => void = () => {};
  #done = false;
  result: Promise<unknown> = new Promise(() => {});
  readonly params: Record<string, unknown>;

  constructor(params: Record<string, unknown>) {
    this.params = params;
  }

  send(event: string, value: unknown): void {
    this.#items.push({ event, value });
    this.#wake();
  }

  end(result: unknown): void {
    this.result = Promise.resolve(result);
    this.#done = true;
    this.#wake();
  }

  cancel(): void {
    this.#done = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      const item = this.#items.shift();
      if (item) yield item;
      else if (this.#done) return;
      else
        await new Promise<void>(resolve => {
          this.#wake = resolve;
        });
    }
  }
}

/** Keeps one draft, as the browser does. */
class MemorySlot implements NotebookSlot {
  kept: KeptDraft | undefined;
  read = async () => this.kept;
  keep = (text: () => string, version: string | undefined) => {
    this.kept = { text: text(), version, time: 0 };
  };
  forget = async () => {
    this.kept = undefined;
  };
  dispose = () => {};
}

const CONTEXT = { id: "n", instance: "i", language: "python", kernel: "python3", pid: 1, state: "running" };

class World {
  exists = false;
  readonly runs: Stream[] = [];
  readonly requests: { key: string; age?: number }[] = [];
  readonly attached: Stream[] = [];
  readonly watches: Stream[] = [];
  readonly calls: unknown[][] = [];
  readonly problems: string[] = [];
  file = false;
  readonly slot = new MemorySlot();

  async open(): Promise<Notebook> {
    const record =
      (name: string, result: unknown = {}) =>
      async (params: unknown) => {
        this.calls.push([name, params]);
        return result;
      };
    const code = {
      get: async () => {
        if (!this.exists) throw new HawseError("not_found", "no context");
        return CONTEXT;
      },
      create: async (params: unknown) => {
        this.calls.push(["create", params]);
        this.exists = true;
        return CONTEXT;
      },
      run: (params: Record<string, unknown>, request: { key: string; age?: number }) => {
        this.requests.push(request);
        return this.#add(this.runs, params);
      },
      attach: (params: Record<string, unknown>) => this.#add(this.attached, params),
      watch: (params: Record<string, unknown>) => this.#add(this.watches, params),
      answer: record("answer"),
      interrupt: record("interrupt"),
      complete: record("complete", { matches: ["😀x"], start: 1, end: 2 }),
    };
    const notebook = new Notebook({ code } as unknown as NotebookBox, {
      id: "n",
      file: this.file,
      problem: text => this.problems.push(text),
    });
    await notebook.restore(this.slot);
    return notebook;
  }

  #add(list: Stream[], params: Record<string, unknown>): Stream {
    const stream = new Stream(params);
    list.push(stream);
    return stream;
  }
}

const until = (condition: () => unknown) => vi.waitFor(() => expect(condition()).toBeTruthy());
const cellOf = (notebook: Notebook, at = 0) => {
  const cell = notebook.cells.value[at];
  if (!cell) throw new Error(`there is no cell ${at}`);
  return cell;
};

test("the first run creates the context once, and its output and end appear in the cell", async () => {
  const world = new World();
  const notebook = await world.open();
  const [first, second] = [cellOf(notebook), notebook.insert(1)];
  notebook.edit(first, "print(1)");
  notebook.edit(second, "2");
  void notebook.runAll();
  await until(() => world.runs.length === 2);
  expect(world.calls.map(([name]) => name)).toEqual(["create"]);
  expect(world.runs.map(({ params }) => params.source)).toEqual(["print(1)", "2"]);
  const [run] = world.runs;
  run?.send("opened", { run: "r-1" });
  await until(() => first.state.value.phase === "running");
  run?.send("data", undefined);
  run?.end({ status: "ok", run: "r-1", execution_count: 4, duration: 2 });
  await until(() => first.state.value.phase === "ended");
  expect(first.state.value).toMatchObject({ status: "ok", count: 4, duration: 2 });
  notebook.dispose();
});

test("runs of others become cells, and own runs do not appear twice", async () => {
  const world = new World();
  world.exists = true;
  const notebook = await world.open();
  await notebook.context.open();
  const own = cellOf(notebook);
  notebook.edit(own, "1");
  void notebook.run(own);
  await until(() => world.runs.length === 1 && world.watches.length === 1);
  const runs = [
    { run: "r-own", state: "running" },
    { run: "r-agent", state: "ended", status: "ok", by: "Ada", kind: "user" },
  ];
  world.watches[0]?.send("changed", { context: CONTEXT, runs });
  await until(() => notebook.context.info.value);
  expect(notebook.cells.value.length).toBe(1); // one of the two is the cell's
  world.runs[0]?.send("opened", { run: "r-own" });
  await until(() => notebook.cells.value.length === 2);
  const theirs = cellOf(notebook, 1);
  expect([own.run, theirs.run, theirs.by.value]).toEqual(["r-own", "r-agent", "Ada"]);
  world.attached[0]?.send("opened", { run: "r-agent", source: "x = 1" });
  await until(() => theirs.source.value === "x = 1");
  notebook.dispose();
});

test("cells are restored, and attach to the runs that are kept", async () => {
  const world = new World();
  const before = await world.open();
  notebookWith(before);
  before.dispose();
  world.exists = true;
  const notebook = await world.open();
  expect(notebook.cells.value.map(({ kind, source }) => [kind.value, source.value])).toEqual([
    ["code", "a = 1"],
    ["text", "# T"],
  ]);
  await notebook.context.open();
  world.watches[0]?.send("changed", {
    context: CONTEXT,
    runs: [{ run: "r-1", state: "ended", status: "ok" }],
  });
  await until(() => world.attached.length === 1);
  expect(notebook.cells.value.length).toBe(2);
  await notebook.forget();
  notebook.save();
  expect(world.slot.kept).toBeUndefined();
  notebook.dispose();
});

function notebookWith(notebook: Notebook): void {
  const cell = cellOf(notebook);
  notebook.edit(cell, "a = 1");
  cell.run = "r-1";
  notebook.insert(1, "text", "# T");
}

test.each(["nonsense", "[]", '{"cells": [{"id": 1}, null]}'])(
  "the kept text %s is not a notebook",
  async text => {
    const world = new World();
    world.slot.kept = { text, version: undefined, time: 0 };
    expect((await world.open()).cells.value.length).toBe(1);
  },
);

test("a removed cell does not come back, and the last one is replaced by an empty one", async () => {
  const world = new World();
  world.exists = true;
  const notebook = await world.open();
  await notebook.context.open();
  const cell = cellOf(notebook);
  cell.run = "r-1";
  notebook.remove(cell);
  world.watches[0]?.send("changed", { context: CONTEXT, runs: [{ run: "r-1", state: "ended" }] });
  await until(() => notebook.context.info.value);
  expect(notebook.cells.value.map(({ run }) => run)).toEqual([undefined]);
  notebook.dispose();
});

test("input is answered once, and positions of completions are counted in characters", async () => {
  const world = new World();
  const notebook = await world.open();
  const cell = cellOf(notebook);
  notebook.edit(cell, "input()");
  await notebook.run(cell);
  world.runs[0]?.send("opened", { run: "r-1" });
  world.runs[0]?.send("input", { offset: 1, request: 7, prompt: "?" });
  await until(() => cell.state.value.input);
  await notebook.answer(cell, "yes");
  await notebook.answer(cell, "again");
  expect(world.calls.filter(([name]) => name === "answer")).toEqual([
    ["answer", { run: "r-1", request: 7, value: "yes" }],
  ]);
  expect(await notebook.context.complete("😀x", 3)).toEqual({ from: 2, matches: ["😀x"] });
  expect(world.calls.at(-1)).toEqual(["complete", { context: "n", source: "😀x", cursor: 2 }]);
  notebook.dispose();
});

test("cells move, and a move beyond the ends does nothing", async () => {
  const notebook = await new World().open();
  const [first, second] = [cellOf(notebook), notebook.insert(1, "text", "b")];
  notebook.move(second, -1);
  notebook.move(second, -1);
  expect(notebook.cells.value).toEqual([second, first]);
  notebook.dispose();
});

const outputsOf = (text: string) => {
  const list = new Outputs();
  list.text("stdout", text);
  return list;
};
const fileCell = (id: string, source = id) =>
  ({
    id,
    named: true as boolean,
    kind: "code",
    source,
    count: 3,
    outputs: outputsOf(`saved ${id}`),
  }) as const;
const file = (...cells: ReturnType<typeof fileCell>[]) => ({ cells, language: "bash", omitted: 0 });
const textOf = (notebook: Notebook) =>
  notebook.cells.value.map(({ source, outputs }) => [
    source.value,
    ...outputs.value.map(each => "text" in each && each.text),
  ]);

test("cells of a file have its outputs, also after an edit, and not after clearing them", async () => {
  const world = new World();
  world.file = true;
  const notebook = await world.open();
  expect(notebook.cells.value).toEqual([]);
  expect(notebook.load(file(fileCell("a"), fileCell("b")), "v1")).toBe(false);
  expect([notebook.changed.value, notebook.context.language.value]).toEqual([false, "bash"]);
  expect(cellOf(notebook, 1).state.value).toEqual({ phase: "idle", count: 3 });
  notebook.edit(cellOf(notebook, 1), "changed");
  expect([notebook.changed.value, notebook.edited.value]).toEqual([true, true]);
  notebook.dispose();
  const again = await world.open();
  expect(again.load(file(fileCell("a"), fileCell("b")), "v1")).toBe(false);
  expect(textOf(again)).toEqual([
    ["a", "saved a"],
    ["changed", "saved b"],
  ]);
  expect(again.changed.value).toBe(true);
  again.clearOutputs();
  again.dispose();
  const cleared = await world.open();
  cleared.load(file(fileCell("a"), fileCell("b")), "v1");
  expect(textOf(cleared)).toEqual([["a"], ["changed"]]);
  cleared.dispose();
});

test("a file that others have changed replaces cells without changes, and changed cells are kept", async () => {
  const world = new World();
  world.file = true;
  const first = await world.open();
  first.load(file(fileCell("a")), "v1");
  expect(first.load(file(fileCell("a", "theirs")), "v2")).toBe(false);
  expect(textOf(first)).toEqual([["theirs", "saved a"]]);
  first.edit(cellOf(first), "mine");
  first.dispose();
  const second = await world.open();
  expect(second.load(file(fileCell("a", "theirs again")), "v3")).toBe(true);
  expect(textOf(second)).toEqual([["mine", "saved a"]]);
  second.discard();
  expect(second.load(file(fileCell("a", "theirs again")), "v3")).toBe(false);
  expect([second.changed.value, textOf(second)]).toEqual([false, [["theirs again", "saved a"]]]);
  second.dispose();
});

test("a snapshot marks the kept parts of the file, and edits during a save stay changes", async () => {
  const world = new World();
  world.file = true;
  const notebook = await world.open();
  notebook.load(file(fileCell("a"), fileCell("b")), "v1");
  notebook.move(cellOf(notebook, 1), -1);
  notebook.insert(2);
  notebook.convert(cellOf(notebook, 1), "text");
  const { cells, generation } = notebook.snapshot();
  expect(cells.map(({ id, origin, outputsKept }) => [id, origin, outputsKept])).toEqual([
    ["b", 1, true],
    ["a", 0, false],
    [cellOf(notebook, 2).id, undefined, false],
  ]);
  notebook.saved(cells, generation, "v2");
  expect([notebook.changed.value, notebook.edited.value]).toEqual([false, false]);
  expect(notebook.snapshot().cells.map(({ origin, outputsKept }) => [origin, outputsKept])).toEqual([
    [0, true],
    [1, true],
    [2, true],
  ]);
  const before = notebook.snapshot();
  notebook.edit(cellOf(notebook), "later");
  notebook.saved(before.cells, before.generation, "v3");
  expect(notebook.changed.value).toBe(true);
  notebook.dispose();
});

test("cells without ids in the file are found again by their places in the version that they come from", async () => {
  const world = new World();
  world.file = true;
  const unnamed = (id: string, source: string) => ({ ...fileCell(id, source), named: false });
  const first = await world.open();
  first.load(file(unnamed("cell-1", "a"), unnamed("cell-2", "b")), "v1");
  first.move(cellOf(first, 1), -1);
  const { cells, generation } = first.snapshot();
  first.saved(cells, generation, "v2");
  first.edit(cellOf(first), "b changed");
  first.dispose();
  const second = await world.open();
  second.load(file(unnamed("cell-1", "b"), unnamed("cell-2", "a")), "v2");
  expect(second.snapshot().cells.map(({ source, origin }) => [source, origin])).toEqual([
    ["b changed", 0],
    ["a", 1],
  ]);
  second.dispose();
  const third = await world.open();
  expect(third.load(file(unnamed("cell-1", "a"), unnamed("cell-2", "new")), "v3")).toBe(true);
  expect(third.snapshot().cells.map(({ source, origin }) => [source, origin])).toEqual([
    ["b changed", undefined],
    ["a", 0],
  ]);
  third.dispose();
});

test("a run of a file's cell by others appears in that cell, and is not a change of this page", async () => {
  const world = new World();
  world.file = true;
  world.exists = true;
  const notebook = await world.open();
  notebook.load(file(fileCell("a"), fileCell("b")), "v1");
  await notebook.context.open();
  const runs = [
    { run: "r-1", state: "running", by: "Ada" },
    { run: "r-2", state: "running", by: "Ada" },
  ];
  world.watches[0]?.send("changed", { context: CONTEXT, runs });
  await until(() => world.attached.length === 2);
  world.attached[0]?.send("opened", { run: "r-1", source: "b\n" });
  world.attached[1]?.send("opened", { run: "r-2", source: "other" });
  await until(() => notebook.cells.value.length === 3);
  world.attached[0]?.end({ status: "ok", run: "r-1", execution_count: 9, duration: 2 });
  await until(() => cellOf(notebook, 1).state.value.phase === "ended");
  expect(notebook.cells.value.map(({ source, run, by }) => [source.value, run, by.value])).toEqual([
    ["a", undefined, undefined],
    ["b", "r-1", "Ada"],
    ["other", "r-2", "Ada"],
  ]);
  expect([notebook.changed.value, notebook.edited.value]).toEqual([true, false]);
  notebook.dispose();
});

test("a run that waits when the page is left is requested again with its key and its source", async () => {
  const world = new World();
  const before = await world.open();
  const [first, second] = [cellOf(before), before.insert(1)];
  before.edit(first, "1");
  before.edit(second, "2");
  void before.runAll();
  await until(() => world.runs.length === 2);
  world.runs[0]?.send("opened", { run: "r-1" });
  await until(() => first.state.value.phase === "running");
  before.edit(second, "2 changed");
  before.dispose();
  const after = await world.open();
  await after.context.open();
  after.resume();
  await until(() => world.runs.length === 3);
  expect(world.runs[2]?.params).toMatchObject({ source: "2" });
  expect(world.requests[2]).toEqual({ key: world.requests[1]?.key, age: expect.any(Number) });
  expect(after.cells.value.map(({ state }) => state.value.phase)).toEqual(["idle", "queued"]);
  after.dispose();
});

test("without a context, no run is requested again", async () => {
  const world = new World();
  const request = { key: "k", source: "1", time: 0 };
  const cells = [{ id: "a", kind: "code", source: "1", request }];
  world.slot.kept = { text: JSON.stringify({ cells }), version: undefined, time: 0 };
  const notebook = await world.open();
  await notebook.context.open();
  notebook.resume();
  expect(world.runs).toEqual([]);
  expect(cellOf(notebook).state.value.phase).toBe("idle");
  notebook.dispose();
});

test("there are no cells before the draft is read, and a notebook closed by then keeps nothing", async () => {
  const notebook = new Notebook({} as NotebookBox, { id: "n", problem: () => {} });
  const slot = new MemorySlot();
  notebook.save();
  expect(notebook.cells.value).toEqual([]);
  const restored = notebook.restore(slot);
  notebook.dispose();
  expect(await restored).toBe(false);
  notebook.save();
  expect(slot.kept).toBeUndefined();
});
