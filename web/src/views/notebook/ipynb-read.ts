// Reads notebook files: nbformat 4 (https://nbformat.readthedocs.io). The contents are checked, because a file can come
// from anywhere.

import { Outputs } from "./outputs";

export interface FileCell {
  readonly id: string;
  /** Whether this id comes from the file; before nbformat 4.5, cells have no ids. */
  readonly named: boolean;
  readonly kind: "code" | "text";
  readonly source: string;
  readonly count: number | undefined;
  readonly outputs: Outputs;
}

export interface NotebookFile {
  readonly cells: readonly FileCell[];
  /** The language in lowercase; undefined if the file doesn't specify it. */
  readonly language: string | undefined;
  /** The number of cells omitted because there are more than `most`. */
  readonly omitted: number;
}

/** Returns the contents of a notebook file, with at most `most` cells. Throws Error with a message for the user. */
export function readNotebook(text: string, most: number): NotebookFile {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    throw new Error("This file is not a notebook: it is not valid JSON.");
  }
  const { cells, nbformat, metadata } = recordOf(file);
  if (nbformat !== 4)
    throw new Error(
      typeof nbformat === "number"
        ? `This notebook has format ${nbformat}; only format 4 can be opened.`
        : "This file is not a notebook: it does not specify a format.",
    );
  if (!Array.isArray(cells)) throw new Error("This file is not a notebook: it has no cells.");
  const ids = new Set<string>();
  return {
    cells: cells.slice(0, most).map((cell, index) => cellOf(recordOf(cell), index, ids)),
    language: languageOf(recordOf(metadata)),
    omitted: Math.max(0, cells.length - most),
  };
}

/** The kernel's language or, if that's missing, the file's language. */
function languageOf({ kernelspec, language_info }: Record<string, unknown>): string | undefined {
  for (const name of [recordOf(language_info).name, recordOf(kernelspec).language])
    if (typeof name === "string" && name) return name.toLowerCase().slice(0, 64);
  return undefined;
}

/** Ids are optional before nbformat 4.5, and a file can contain the same id twice. */
function cellOf(cell: Record<string, unknown>, index: number, ids: Set<string>): FileCell {
  const given = typeof cell.id === "string" && /^[\w-]{1,64}$/.test(cell.id) ? cell.id : undefined;
  let id = given ?? `cell-${index + 1}`;
  while (ids.has(id)) id += "-";
  ids.add(id);
  const code = cell.cell_type === "code";
  const outputs = new Outputs();
  if (code && Array.isArray(cell.outputs)) for (const output of cell.outputs) add(outputs, recordOf(output));
  return {
    id,
    named: id === given,
    kind: code ? "code" : "text",
    source: textOf(cell.source),
    count: numberOf(cell.execution_count),
    outputs,
  };
}

function add(outputs: Outputs, output: Record<string, unknown>): void {
  const { output_type: type } = output;
  if (type === "stream") outputs.text(output.name === "stderr" ? "stderr" : "stdout", textOf(output.text));
  else if (type === "error")
    outputs.error({
      name: textOf(output.ename),
      value: textOf(output.evalue),
      traceback: Array.isArray(output.traceback) ? output.traceback.map(textOf) : [],
    });
  else if (type === "display_data" || type === "execute_result")
    outputs.display(
      {
        offset: 0,
        metadata: recordOf(output.metadata),
        execution_count: numberOf(output.execution_count) ?? null,
      },
      recordOf(output.data),
    );
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** Texts are strings or arrays of lines. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.filter(line => typeof line === "string").join("") : "";
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}
