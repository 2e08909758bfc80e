// Finds the text of a member of a JSON object without parsing the object again. An event costs the length of its
// `value` as encoded by the server (docs/wire.md section 4). Re-encoding the value could give a different length: 1.0
// and 1 are the same number.

/**
 * Returns the raw text of the top-level member `name` (the last one if it occurs more than once, as in JSON.parse).
 * `text` must be valid JSON.
 */
export function memberText(text: string, name: string): string | undefined {
  let found: string | undefined;
  let at = text.indexOf("{") + 1;
  for (;;) {
    const keyStart = text.indexOf('"', at);
    if (keyStart < 0) return found;
    const keyEnd = stringEnd(text, keyStart);
    const start = skipSpace(text, text.indexOf(":", keyEnd) + 1);
    const end = valueEnd(text, start);
    if (JSON.parse(text.slice(keyStart, keyEnd)) === name) found = text.slice(start, end);
    at = end;
  }
}

/** Returns the length of `text` in UTF-8, in bytes. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // Each half of a surrogate pair counts as 2 bytes, so the pair counts as 4.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

/** Returns the index of the first non-whitespace character at or after `from`. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (" \t\n\r".includes(text[at] ?? "x")) at++;
  return at;
}

/** `from` is the index of the opening quote. Returns the index after the closing quote. */
export function stringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

/** `from` is the index of the first character of a value. Returns the index after its last character. */
export function valueEnd(text: string, from: number): number {
  if (text[from] === '"') return stringEnd(text, from);
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '"') at = stringEnd(text, at) - 1;
    else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (char === "," || " \t\n\r".includes(char))) return at;
  }
  return text.length;
}
