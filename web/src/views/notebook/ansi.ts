// Renders output as a terminal would show it, without an emulator: colours and styles (ECMA-48, SGR), and lines that
// programs redraw with carriage returns, such as progress bars.

export interface Span {
  readonly text: string;
  /** CSS, keyed by property name in camel case. */
  readonly style: Readonly<Record<string, string>>;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they start the sequences of a terminal
const SEQUENCE = /\x1b(?:\[([0-9;:?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;

/** Maximum number of characters in a line whose redrawing is processed. */
const LINE_MAX = 65_536;

/** Splits text into spans, each with a single style. Sequences other than SGR are removed. */
export function spansOf(text: string): Span[] {
  const spans: Span[] = [];
  let style: Record<string, string> = {};
  let at = 0;
  const add = (part: string) => {
    if (part) spans.push({ text: part, style });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    add(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") style = restyled(style, match[1] ?? "");
  }
  add(text.slice(at));
  return spans;
}

function restyled(before: Record<string, string>, parameters: string): Record<string, string> {
  let style = { ...before };
  const codes = parameters.split(/[;:]/).map(code => Number.parseInt(code || "0", 10));
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 0) style = {};
    else if (code === 1) style.fontWeight = "700";
    else if (code === 2) style.opacity = "0.7";
    else if (code === 3) style.fontStyle = "italic";
    else if (code === 4) style.textDecoration = "underline";
    else if (code === 9) style.textDecoration = "line-through";
    else if (code === 22) style = without(style, "fontWeight", "opacity");
    else if (code === 23) style = without(style, "fontStyle");
    else if (code === 24 || code === 29) style = without(style, "textDecoration");
    else if (code === 39) style = without(style, "color");
    else if (code === 49) style = without(style, "background");
    else if (code === 38 || code === 48) {
      const [color, used] = extended(codes.slice(at + 1));
      if (color) style[code === 38 ? "color" : "background"] = color;
      at += used;
    } else {
      const color = basic(code);
      if (color) Object.assign(style, color);
    }
  }
  return style;
}

function without(style: Record<string, string>, ...names: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(style).filter(([name]) => !names.includes(name)));
}

function basic(code: number): Record<string, string> | undefined {
  if (code >= 30 && code <= 37) return { color: named(code - 30) };
  if (code >= 40 && code <= 47) return { background: named(code - 40) };
  if (code >= 90 && code <= 97) return { color: named(code - 82) };
  if (code >= 100 && code <= 107) return { background: named(code - 92) };
  return undefined;
}

function named(index: number): string {
  return `var(--ansi-${index})`;
}

/** Returns the colour after 38 or 48, and the number of codes it takes up. */
function extended([kind, ...rest]: number[]): [string | undefined, number] {
  if (kind === 2) return [`rgb(${rest.slice(0, 3).map(byte).join(" ")})`, 4];
  if (kind === 5) return [indexed(byte(rest[0])), 2];
  return [undefined, 0];
}

function byte(value = 0): number {
  return Math.max(0, Math.min(255, value || 0));
}

/** Returns a colour from xterm's 256-colour palette. */
function indexed(index: number): string {
  if (index < 16) return named(index);
  if (index >= 232) {
    const gray = 8 + (index - 232) * 10;
    return `rgb(${gray} ${gray} ${gray})`;
  }
  const cube = index - 16;
  const level = (part: number) => (part === 0 ? 0 : 55 + part * 40);
  return `rgb(${level(Math.floor(cube / 36))} ${level(Math.floor(cube / 6) % 6)} ${level(cube % 6)})`;
}

/** Appends output to text whose last line may be redrawn. Text overwritten after a carriage return is dropped. */
export function appended(before: string, chunk: string): string {
  if (!chunk.includes("\r") && !before.endsWith("\r")) return before + chunk;
  const from = before.lastIndexOf("\n") + 1;
  const lines = (before.slice(from) + chunk).split("\n");
  const last = lines.length - 1;
  return before.slice(0, from) + lines.map((line, index) => redrawn(line, index < last)).join("\n");
}

/** `ended` is true if a line break follows. A carriage return before the line break then has no effect. */
function redrawn(line: string, ended: boolean): string {
  if (!line.includes("\r") || line.length > LINE_MAX) return line;
  const open = !ended && line.endsWith("\r");
  let shown = "";
  for (const part of line.split("\r")) {
    if (part === "") continue;
    // Escape sequences have no width, so only plain text can overwrite plain text.
    shown = part.includes("\x1b") || shown.includes("\x1b") ? part : part + shown.slice(part.length);
  }
  return open ? `${shown}\r` : shown;
}
