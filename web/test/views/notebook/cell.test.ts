import { expect, test } from "vitest";
import { draftOf, IDLE, isDraft, newCell } from "../../../src/views/notebook/cell";

test("a cell has what its draft has, without outputs", () => {
  const draft = { id: "a", kind: "text", source: "x", run: "r", by: "Ada", cleared: true } as const;
  const cell = newCell(draft);
  expect([cell.outputs.value, cell.state.value]).toEqual([[], IDLE]);
  expect(draftOf(cell)).toEqual(draft);
});

test.each([null, 1, {}, { id: "a", kind: "raw", source: "" }, { id: "a", kind: "code", source: "", run: 1 }])(
  "%j is no draft of a cell",
  value => {
    expect(isDraft(value)).toBe(false);
  },
);
