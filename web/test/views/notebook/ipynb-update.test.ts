import { expect, test } from "vitest";
import { readNotebook } from "../../../src/views/notebook/ipynb-read";
import { type UpdatedCell, updatedNotebook } from "../../../src/views/notebook/ipynb-update";

// As nbformat writes it, with values that JSON.parse and JSON.stringify would change.
const FILE = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "a",
   "metadata": {
    "weight": 1.0,
    "big": 12345678901234567890
   },
   "source": [
    "# Title\\n",
    "\\u00e4"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "b",
   "metadata": {"tags": ["x"]},
   "outputs": [
    {
     "data": {"text/plain": "2", "x/y": 1e2},
     "execution_count": 7,
     "metadata": {},
     "output_type": "execute_result"
    }
   ],
   "source": "1 + 1",
   "vendor": {"z": 1, "a": 2}
  },
  {"cell_type": "raw", "id": "c", "metadata": {"format": "text/x"}, "source": ["raw"]}
 ],
 "metadata": {
  "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
  "own": 1.50
 },
 "nbformat": 4,
 "nbformat_minor": 5,
 "extra": 0.10
}
`;

const cellsOf = (text: string): UpdatedCell[] =>
  readNotebook(text, 10).cells.map(({ id, kind, source, count, outputs }, origin) => ({
    ...{ id, kind, source, count, origin },
    outputs: outputs.list,
    outputsKept: true,
  }));
const update = (cells: readonly UpdatedCell[], text = FILE, shown = 10) =>
  updatedNotebook(text, { cells, shown });

test("a file without changes stays as it is", () => {
  expect(update(cellsOf(FILE))).toBe(FILE);
});

test("a changed source is replaced, in the form that it had, and nothing else is", () => {
  const [a, b, c] = cellsOf(FILE) as [UpdatedCell, UpdatedCell, UpdatedCell];
  const text = update([{ ...a, source: "one\ntwo" }, { ...b, source: "3\n+4" }, c]);
  const list = '[\n    "one\\n",\n    "two"\n   ]';
  expect(text).toBe(
    FILE.replace('[\n    "# Title\\n",\n    "\\u00e4"\n   ]', list).replace('"1 + 1"', '"3\\n+4"'),
  );
});

test("new outputs replace the file's outputs, and unknown fields stay", () => {
  const [a, b, c] = cellsOf(FILE) as [UpdatedCell, UpdatedCell, UpdatedCell];
  const outputs = [{ kind: "text", stream: "stdout", text: "3\n", cut: false }] as const;
  const text = update([a, { ...b, count: 8, outputs, outputsKept: false }, c]);
  const before = JSON.parse(FILE);
  before.cells[1].execution_count = 8;
  before.cells[1].outputs = [{ output_type: "stream", name: "stdout", text: ["3\n"] }];
  expect(JSON.parse(text)).toEqual(before);
  expect(text).toContain('"vendor": {"z": 1, "a": 2}');
  expect(text).toContain('"weight": 1.0');
});

test("cells are added, removed, moved and converted", () => {
  const [a, b, c] = cellsOf(FILE) as [UpdatedCell, UpdatedCell, UpdatedCell];
  const added: UpdatedCell = {
    ...{ id: "n", kind: "code", source: "x", count: undefined, outputs: [] },
    ...{ origin: undefined, outputsKept: false },
  };
  const text = update([{ ...b, kind: "text", outputs: [] }, added, { ...c, source: "still raw" }]);
  expect(JSON.parse(text).cells).toEqual([
    { cell_type: "markdown", id: "b", metadata: { tags: ["x"] }, source: "1 + 1", vendor: { z: 1, a: 2 } },
    { cell_type: "code", execution_count: null, id: "n", metadata: {}, outputs: [], source: ["x"] },
    { cell_type: "raw", id: "c", metadata: { format: "text/x" }, source: ["still raw"] },
  ]);
  expect(text).toContain('  {\n   "cell_type": "code",\n   "execution_count": null,\n');
  const toCode = JSON.parse(update([{ ...a, kind: "code", outputsKept: false }])).cells[0];
  expect(toCode).toMatchObject({ cell_type: "code", execution_count: null, outputs: [], id: "a" });
});

test("cells that were not shown stay at the end", () => {
  const [a] = cellsOf(FILE) as [UpdatedCell];
  const ids = JSON.parse(update([a], FILE, 1)).cells.map(({ id }: { id: string }) => id);
  expect(ids).toEqual(["a", "b", "c"]);
});

test("another language replaces the kernel, and other metadata stays", () => {
  const text = updatedNotebook(FILE, {
    cells: cellsOf(FILE),
    shown: 10,
    language: { name: "bash", kernel: "bash" },
  });
  expect(JSON.parse(text).metadata).toEqual({
    kernelspec: { display_name: "bash", language: "bash", name: "bash" },
    own: 1.5,
    language_info: { name: "bash" },
  });
  expect(text).toContain('"own": 1.50');
});

test("a file on one line and of an older format gets cells without ids, on the same line", () => {
  const old = '{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":4}';
  const added: UpdatedCell = {
    ...{ id: "n", kind: "text", source: "x", count: undefined, outputs: [] },
    ...{ origin: undefined, outputsKept: false },
  };
  expect(update([added], old)).toBe(
    '{"cells":[{"cell_type":"markdown","metadata":{},"source":["x"]}],"metadata":{},"nbformat":4,"nbformat_minor":4}',
  );
});
