import { expect, test } from "vitest";
import { notebookText } from "../../../src/views/notebook/ipynb";
import { readNotebook } from "../../../src/views/notebook/ipynb-read";

const file = (cells: unknown, more: object = {}) =>
  JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells, ...more });

test("cells have their sources, counts and outputs", () => {
  const { cells, language, omitted } = readNotebook(
    file(
      [
        { cell_type: "markdown", id: "a", source: ["# Title\n", "text"] },
        {
          cell_type: "code",
          id: "b",
          source: "1 + 1",
          execution_count: 7,
          outputs: [
            { output_type: "stream", name: "stderr", text: ["one\n", "two\n"] },
            { output_type: "execute_result", execution_count: 7, data: { "text/html": ["<b>", "2</b>"] } },
            { output_type: "error", ename: "E", evalue: "v", traceback: ["t"] },
            { output_type: "of a later format" },
          ],
        },
      ],
      { metadata: { language_info: { name: "Python" } } },
    ),
    10,
  );
  expect([language, omitted]).toEqual(["python", 0]);
  expect(cells.map(({ id, kind, source, count }) => [id, kind, source, count])).toEqual([
    ["a", "text", "# Title\ntext", undefined],
    ["b", "code", "1 + 1", 7],
  ]);
  expect(cells[1]?.outputs.list).toMatchObject([
    { kind: "text", stream: "stderr", text: "one\ntwo\n" },
    { kind: "bundle", data: { "text/html": ["<b>", "2</b>"] }, count: 7 },
    { kind: "error", name: "E", value: "v", traceback: ["t"] },
  ]);
});

test("an exported notebook can be read", () => {
  const exported = [
    { id: "a", named: true, kind: "text" as const, source: "*x*\n", count: undefined, outputs: [] },
    { id: "b", named: true, kind: "code" as const, source: "y", count: 2, outputs: [] },
  ];
  const { cells, language } = readNotebook(notebookText(exported, "bash", ""), 10);
  expect(cells.map(({ outputs, ...cell }) => ({ ...cell, outputs: [...outputs.list] }))).toEqual(exported);
  expect(language).toBe("bash");
});

test.each([
  ["{", "not valid JSON"],
  ["null", "does not specify a format"],
  ["[]", "does not specify a format"],
  ['{"nbformat": 3}', "only format 4 can be opened"],
  ['{"nbformat": 4, "cells": {}}', "has no cells"],
])("%s is not a notebook", (text, message) => {
  expect(() => readNotebook(text, 10)).toThrow(message);
});

test("odd values become empty ones, and each cell has its own id", () => {
  const { cells, omitted } = readNotebook(
    file([
      null,
      { cell_type: "code", id: "x", source: [1, "a"], outputs: [null, 1, { output_type: "stream" }] },
      { cell_type: "code", id: "x", execution_count: "1", outputs: {} },
      { cell_type: "raw", id: "<b>", source: 5 },
      {},
    ]),
    4,
  );
  expect(cells.map(({ id, source, count, outputs }) => [id, source, count, outputs.list.length])).toEqual([
    ["cell-1", "", undefined, 0],
    ["x", "a", undefined, 0],
    ["x-", "", undefined, 0],
    ["cell-4", "", undefined, 0],
  ]);
  expect(omitted).toBe(1);
});
