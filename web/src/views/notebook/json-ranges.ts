// Finds the positions of an object's members and an array's elements in JSON text, so that a single value can be
// replaced while the rest of the text is kept. The text must be valid JSON.

import { skipSpace, stringEnd, valueEnd } from "../../wire/json-slice";

export interface Range {
  readonly start: number;
  /** The index after the last character. */
  readonly end: number;
}

/**
 * Returns the ranges of an object's values, keyed by name. `from` is the index of its `{`. If a name occurs twice, the
 * last value counts.
 */
export function membersOf(text: string, from: number): Map<string, Range> {
  const members = new Map<string, Range>();
  let at = skipSpace(text, from + 1);
  while (text[at] === '"') {
    const keyEnd = stringEnd(text, at);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = valueEnd(text, start);
    members.set(JSON.parse(text.slice(at, keyEnd)), { start, end });
    at = afterComma(text, end);
  }
  return members;
}

/** Returns the ranges of an array's elements. `from` is the index of its `[`. */
export function elementsOf(text: string, from: number): Range[] {
  const elements: Range[] = [];
  let at = skipSpace(text, from + 1);
  while (at < text.length && text[at] !== "]") {
    const end = valueEnd(text, at);
    elements.push({ start: at, end });
    at = afterComma(text, end);
  }
  return elements;
}

function afterComma(text: string, end: number): number {
  const at = skipSpace(text, end);
  return text[at] === "," ? skipSpace(text, at + 1) : at;
}
