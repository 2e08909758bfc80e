// Writes changes into the text of a notebook file. Everything else is kept character for character: metadata, unknown
// fields, numbers, the order of members, and whitespace.

import { skipSpace } from "../../wire/json-slice";
import { type ExportedCell, linesOf, outputOf } from "./ipynb";
import { elementsOf, membersOf, type Range } from "./json-ranges";

export interface UpdatedCell extends ExportedCell {
  /** Index of the cell in the file; undefined for a new cell. */
  readonly origin: number | undefined;
  /** Whether the outputs are the same as in the file. */
  readonly outputsKept: boolean;
}

export interface NotebookUpdate {
  readonly cells: readonly UpdatedCell[];
  /** How many of the file's cells were shown. The cells after them are kept at the end. */
  readonly shown: number;
  /** Set if the language differs from the file's language. */
  readonly language?: { readonly name: string; readonly kernel: string } | undefined;
}

/** Returns `text` with the update applied. `readNotebook` must have accepted `text`. */
export function updatedNotebook(text: string, { cells, shown, language }: NotebookUpdate): string {
  const layout = new Layout(text);
  const root = membersOf(text, skipSpace(text, 0));
  const list = root.get("cells") as Range;
  const metadata = root.get("metadata");
  const minor = Number(sliceOf(text, root.get("nbformat_minor")));
  const before = elementsOf(text, list.start).map(range => sliceOf(text, range));
  const after = cells.map(cell => {
    const origin = cell.origin === undefined ? undefined : before[cell.origin];
    return origin?.startsWith("{") ? changedCell(origin, cell, layout) : newCell(cell, minor >= 5, layout);
  });
  after.push(...before.slice(shown));
  const replaced: [Range, string][] = [];
  if (after.length !== before.length || after.some((cell, index) => cell !== before[index]))
    replaced.push([list, layout.array(after, 1)]);
  if (language && metadata && text[metadata.start] === "{") {
    const { name, kernel } = language;
    const changes = new Map<string, unknown>([
      ["kernelspec", { display_name: kernel, language: name, name: kernel }],
      ["language_info", { name }],
    ]);
    replaced.push([metadata, changedObject(sliceOf(text, metadata), changes, layout, 1)]);
  }
  let written = text;
  for (const [{ start, end }, value] of replaced.sort(([a], [b]) => b.start - a.start))
    written = written.slice(0, start) + value + written.slice(end);
  return written;
}

/** Ids exist only in nbformat 4.5 and later. */
function newCell({ id, kind, source, count, outputs }: UpdatedCell, withId: boolean, layout: Layout): string {
  const cell = {
    cell_type: kind === "code" ? "code" : "markdown",
    ...(kind === "code" && { execution_count: count ?? null }),
    ...(withId && { id }),
    metadata: {},
    ...(kind === "code" && { outputs: outputs.map(outputOf) }),
    source: linesOf(source),
  };
  return layout.print(cell, 2);
}

/** Raw cells are shown as text, and stay raw cells. */
function changedCell(before: string, cell: UpdatedCell, layout: Layout): string {
  const members = membersOf(before, 0);
  const jsonOf = (name: string) => {
    const range = members.get(name);
    return range && JSON.parse(sliceOf(before, range));
  };
  const source = jsonOf("source");
  const wasCode = jsonOf("cell_type") === "code";
  const changes = new Map<string, unknown>();
  if ((Array.isArray(source) ? source.join("") : source) !== cell.source)
    changes.set("source", typeof source === "string" ? cell.source : linesOf(cell.source));
  if (cell.kind === "text" && wasCode) {
    changes.set("cell_type", "markdown").set("execution_count", undefined).set("outputs", undefined);
  } else if (cell.kind === "code" && (!wasCode || !cell.outputsKept)) {
    if (!wasCode) changes.set("cell_type", "code").set("attachments", undefined);
    changes.set("execution_count", cell.count ?? null).set("outputs", cell.outputs.map(outputOf));
  }
  return changes.size === 0 ? before : changedObject(before, changes, layout, 2);
}

/** Returns an object with some members changed; a member that is undefined is removed. */
function changedObject(
  before: string,
  changes: ReadonlyMap<string, unknown>,
  layout: Layout,
  depth: number,
): string {
  const added = new Map(changes);
  const members: string[] = [];
  const add = (name: string, value: string) =>
    members.push(`${JSON.stringify(name)}:${layout.space}${value}`);
  for (const [name, range] of membersOf(before, 0)) {
    added.delete(name);
    if (!changes.has(name)) add(name, sliceOf(before, range));
    else if (changes.get(name) !== undefined) add(name, layout.print(changes.get(name), depth + 1));
  }
  for (const [name, value] of added) if (value !== undefined) add(name, layout.print(value, depth + 1));
  return layout.wrap("{", members, "}", depth);
}

function sliceOf(text: string, range: Range | undefined): string {
  return range ? text.slice(range.start, range.end) : "";
}

/** A file's indentation: the characters for one level, or none if the file is a single line. */
class Layout {
  readonly #unit: string | undefined;
  readonly space: string;

  constructor(text: string) {
    this.#unit = /^\s*\{\r?\n([ \t]+)"/.exec(text)?.[1];
    this.space = this.#unit !== undefined || /^\s*\{"[^"]*": /.test(text) ? " " : "";
  }

  print(value: unknown, depth: number): string {
    if (this.#unit === undefined) return JSON.stringify(value);
    return JSON.stringify(value, null, this.#unit).replaceAll("\n", `\n${this.#unit.repeat(depth)}`);
  }

  array(elements: readonly string[], depth: number): string {
    return this.wrap("[", elements, "]", depth);
  }

  wrap(open: string, parts: readonly string[], close: string, depth: number): string {
    if (parts.length === 0) return open + close;
    if (this.#unit === undefined) return open + parts.join(`,${this.space}`) + close;
    const line = `\n${this.#unit.repeat(depth)}`;
    return open + parts.map(part => line + this.#unit + part).join(",") + line + close;
  }
}
