import { expect, test } from "vitest";
import { draftOf, IDLE, isDraft, newCell } from "../../../src/views/notebook/cell";

test("a cell has what its draft has, without outputs", () => {
  const request = { key: "k", source: "x", time: 1 };
  const draft = { id: "a", kind: "text", source: "x", run: "r", by: "Ada", cleared: true, request } as const;
  const cell = newCell(draft);
  expect([cell.outputs.value, cell.state.value]).toEqual([[], IDLE]);
  expect(draftOf(cell)).toEqual(draft);
});

test.each([
  null,
  1,
  {},
  { id: "a", kind: "raw", source: "" },
  { id: "a", kind: "code", source: "", run: 1 },
  { id: "a", kind: "code", source: "", request: { key: "k", source: "" } },
  { id: "a", kind: "code", source: "", request: null },
])("%j is not a draft of a cell", value => {
  expect(isDraft(value)).toBe(false);
});
