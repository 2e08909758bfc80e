import { signal } from "@preact/signals";
import { expect, test, vi } from "vitest";
import { type Cell, newCell } from "../../../src/views/notebook/cell";
import { CellRuns } from "../../../src/views/notebook/cell-runs";
import { Outputs } from "../../../src/views/notebook/outputs";
import { HawseError, interrupted } from "../../../src/wire/errors";

type Item = { event: string; value: unknown };

/** A call whose items are known from the beginning; it ends with `result`, or fails. */
function call(items: Item[], result: object | Error) {
  const failed = result instanceof Error;
  const iterate = async function* () {
    yield* items;
    if (failed) throw result;
  };
  return Object.assign(iterate(), { cancel: () => {}, result: failed ? undefined : Promise.resolve(result) });
}

function runsOf(cells: Cell[], calls: ReturnType<typeof call>[], matching = false) {
  const next = (): object => Object.assign(calls.shift() as object, { again: next });
  const list = signal<readonly Cell[]>(cells);
  const changed = vi.fn();
  const box = { code: { run: next, attach: next } } as never;
  const runs = new CellRuns({ box, context: "n", cells: list, matching, changed, stored: () => {} });
  return { runs, list, changed };
}

const code = (id: string, source: string) => newCell({ id, kind: "code", source });
const OK = { status: "ok", execution_count: 3, duration: 1 };
const ended = (cell: Cell) => vi.waitFor(() => expect(cell.state.value.phase).toBe("ended"));

test("the code of a cell updates the display of another one", async () => {
  const [a, b] = [code("a", "display(1)"), code("b", "update(2)")];
  const shown = (text: string) => ({ offset: 1, data: { "text/plain": text }, display_id: "d" });
  const { runs, changed } = runsOf(
    [a, b],
    [
      call(
        [
          { event: "opened", value: { run: "r-1" } },
          { event: "display", value: shown("1") },
        ],
        OK,
      ),
      call(
        [
          { event: "opened", value: { run: "r-2" } },
          { event: "update", value: shown("2") },
        ],
        OK,
      ),
    ],
  );
  runs.start(a);
  await ended(a);
  runs.start(b);
  await ended(b);
  expect(a.outputs.value).toMatchObject([{ data: { "text/plain": "2" } }]);
  expect(a.run).toBe("r-1");
  expect(changed).toHaveBeenCalledWith(true);
});

test("a run of others is a change, unless the file has its number", async () => {
  const cell = code("a", "x");
  const { runs, changed, list } = runsOf(
    [cell],
    [
      call([{ event: "opened", value: { run: "r-1", source: "x" } }], OK),
      call([{ event: "opened", value: { run: "r-2", source: "x" } }], { ...OK, execution_count: 4 }),
    ],
    true,
  );
  const saved = new Outputs();
  saved.text("stdout", "saved");
  runs.show(cell, saved);
  cell.state.value = { phase: "idle", count: 3 };
  runs.adopt([{ run: "r-1", state: "ended" }]);
  await ended(cell);
  expect([cell.run, changed.mock.calls]).toEqual(["r-1", []]);
  runs.adopt([
    { run: "r-1", state: "ended" },
    { run: "r-2", state: "ended" },
  ]);
  await vi.waitFor(() => expect(cell.run).toBe("r-2"));
  await ended(cell);
  expect(changed.mock.calls).toEqual([[false]]);
  expect([list.value, runs.hidden]).toEqual([[cell], ["r-1"]]);
});

test("a run of others that cannot be followed leaves no cell", async () => {
  const { runs, list } = runsOf([code("a", "x")], [call([], new HawseError("not_found", "gone"))], true);
  runs.adopt([{ run: "r-1", state: "ended" }]);
  await vi.waitFor(() => expect(runs.hidden).toEqual(["r-1"]));
  expect(list.value.length).toBe(1);
});

test("of the runs that are not shown, the newest 256 are kept", () => {
  const { runs } = runsOf([], []);
  for (let run = 0; run < 300; run++) runs.hide(`r-${run}`);
  expect([runs.hidden.length, runs.hidden[0]]).toEqual([256, "r-44"]);
});

test("a run that waited when the connection was lost, and has another id then, is not taken for one of others", async () => {
  const cell = code("a", "x");
  let open = () => {};
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  async function* again() {
    await opened;
    yield { event: "opened", value: { run: "r-2" } };
  }
  const first = call([{ event: "waiting", value: { run: "r-1" } }], interrupted("code.run"));
  const second = Object.assign(again(), { cancel: () => {}, result: Promise.resolve(OK) });
  const calls = [first, second as ReturnType<typeof call>];
  const { runs, list } = runsOf([cell], calls);
  runs.start(cell);
  await vi.waitFor(() => expect(calls).toEqual([]));
  runs.adopt([{ run: "r-2", state: "running" }]);
  open();
  await ended(cell);
  expect([cell.run, list.value]).toEqual(["r-2", [cell]]);
});
