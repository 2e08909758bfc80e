// Notebook files: nbformat 4.5 (https://nbformat.readthedocs.io).

import type { Output } from "./outputs";

export interface ExportedCell {
  readonly id: string;
  readonly kind: "code" | "text";
  readonly source: string;
  readonly count: number | undefined;
  readonly outputs: readonly Output[];
}

/** Returns the text of a notebook file. */
export function notebookText(cells: readonly ExportedCell[], language: string, kernel: string): string {
  const notebook = {
    cells: cells.map(cellOf),
    metadata: {
      kernelspec: { display_name: kernel || language, language, name: kernel || language },
      language_info: { name: language },
    },
    nbformat: 4,
    nbformat_minor: 5,
  };
  return `${JSON.stringify(notebook, null, 1)}\n`;
}

function cellOf({ id, kind, source, count, outputs }: ExportedCell): object {
  const common = { id, metadata: {}, source: linesOf(source) };
  if (kind === "text") return { cell_type: "markdown", ...common };
  return {
    cell_type: "code",
    ...common,
    execution_count: count ?? null,
    outputs: outputs.map(outputOf),
  };
}

/** Returns an output in notebook file format. */
export function outputOf(output: Output): object {
  if (output.kind === "text")
    return { output_type: "stream", name: output.stream, text: linesOf(output.text) };
  if (output.kind === "error") {
    const { name, value, traceback } = output;
    return { output_type: "error", ename: name, evalue: value, traceback };
  }
  const data = Object.fromEntries(
    Object.entries(output.data).map(([type, value]) => [type, bundleValue(type, value)]),
  );
  if (output.count === undefined) return { output_type: "display_data", data, metadata: output.metadata };
  return { output_type: "execute_result", execution_count: output.count, data, metadata: output.metadata };
}

/** Values with JSON types can be anything; all others are text, or text as an array of lines. */
function bundleValue(type: string, value: unknown): unknown {
  if (/^application\/(?:.+\+)?json$/.test(type)) return value;
  if (Array.isArray(value) && value.every(line => typeof line === "string")) return value;
  if (typeof value !== "string") return linesOf(JSON.stringify(value) ?? "");
  return type.startsWith("text/") || type === "image/svg+xml" ? linesOf(value) : value;
}

/** Returns a text's lines including their line ends, as in notebook files. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
