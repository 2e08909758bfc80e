import { expect, test } from "vitest";
import { notebookText } from "../../../src/views/notebook/ipynb";

test("a notebook file has the cells with their outputs", () => {
  const text = notebookText(
    [
      { id: "a", kind: "text", source: "# Title", count: undefined, outputs: [] },
      {
        id: "b",
        kind: "code",
        source: "x\ny",
        count: 3,
        outputs: [
          { kind: "text", stream: "stdout", text: "1\n2", cut: false },
          {
            kind: "bundle",
            data: { "text/html": "<b>\n</b>", "image/png": "aGk=" },
            metadata: {},
            omitted: [],
            displayId: undefined,
            count: 3,
          },
          {
            kind: "bundle",
            data: { "text/plain": "d" },
            metadata: {},
            omitted: [],
            displayId: "1",
            count: undefined,
          },
          { kind: "error", name: "E", value: "v", traceback: ["t"] },
        ],
      },
    ],
    "python",
    "python3",
  );
  const notebook = JSON.parse(text);
  expect([notebook.nbformat, notebook.nbformat_minor]).toEqual([4, 5]);
  expect(notebook.metadata.kernelspec.name).toBe("python3");
  expect(notebook.cells[0]).toEqual({ cell_type: "markdown", id: "a", metadata: {}, source: ["# Title"] });
  expect(notebook.cells[1]).toMatchObject({ execution_count: 3, source: ["x\n", "y"] });
  expect(notebook.cells[1].outputs).toEqual([
    { output_type: "stream", name: "stdout", text: ["1\n", "2"] },
    {
      output_type: "execute_result",
      execution_count: 3,
      data: { "text/html": ["<b>\n", "</b>"], "image/png": "aGk=" },
      metadata: {},
    },
    { output_type: "display_data", data: { "text/plain": ["d"] }, metadata: {} },
    { output_type: "error", ename: "E", evalue: "v", traceback: ["t"] },
  ]);
});
