// Reads other programs' colour schemes: iTerm2 property lists (.itermcolors) and VS Code themes (JSON with comments).

import { brightOf, completed, HUES } from "./schemes";
import type { ColorScheme } from "./settings";

/** Maximum size of a file in characters; the largest themes are about 100 kB. */
export const MAX_FILE = 1_000_000;

/** Thrown if the file isn't a colour scheme. */
export class SchemeError extends Error {
  override readonly name = "SchemeError";
}

/** Returns the scheme in a file. `name` is the file name. Throws SchemeError. */
export function importScheme(name: string, text: string): ColorScheme {
  if (text.length > MAX_FILE) throw new SchemeError("The file is too large for a colour scheme.");
  const isList = /^\s*(<\?xml|<!DOCTYPE|<plist)/i.test(text.replace(/^\uFEFF/, ""));
  const colors = isList ? fromPropertyList(text) : fromTheme(text);
  if (!colors.background || !colors.foreground)
    throw new SchemeError("The file has no background and foreground for a terminal.");
  if (!colors.red || !colors.green || !colors.blue)
    throw new SchemeError("The file has no colours for programs in a terminal.");
  const title = name.replace(/\.(itermcolors|jsonc?|xml)$/i, "").replace(/-color-theme$/, "");
  return { name: title.slice(0, 60) || "Imported", colors: completed(colors) };
}

const GENERAL: Record<string, string> = {
  "Background Color": "background",
  "Foreground Color": "foreground",
  "Cursor Color": "cursor",
  "Cursor Text Color": "cursorAccent",
  "Selection Color": "selectionBackground",
};

/** Reads the tags one by one: outside a `<dict>`, `<key>` names the colour; inside it, `<key>` names the component. */
function fromPropertyList(text: string): Record<string, string> {
  const colors: Record<string, string> = {};
  let depth = 0;
  let color: string | undefined;
  let component = "";
  let parts = new Map<string, number>();
  for (const [tag, key, value] of text.matchAll(
    /<key>([^<]{0,100})<\/key>|<(?:real|integer)>([^<]{0,100})<\/(?:real|integer)>|<\/?dict>/g,
  )) {
    if (tag === "<dict>") {
      depth++;
      parts = new Map();
    } else if (tag === "</dict>") {
      if (depth-- === 2 && color) colors[color] = hexOf(parts);
    } else if (key !== undefined && depth === 1) color = GENERAL[key] ?? ansiOf(key);
    else if (key !== undefined) component = key;
    else parts.set(component, Number(value));
  }
  return colors;
}

function ansiOf(key: string): string | undefined {
  const number = Number(/^Ansi (\d{1,2}) Color$/.exec(key)?.[1]);
  const hue = HUES[number % 8];
  return hue && number < 16 ? (number < 8 ? hue : brightOf(hue)) : undefined;
}

function hexOf(parts: ReadonlyMap<string, number>): string {
  const values = ["Red", "Green", "Blue"].map(name => {
    const value = Math.round((parts.get(`${name} Component`) ?? 0) * 255);
    return Math.min(255, Math.max(0, value || 0))
      .toString(16)
      .padStart(2, "0");
  });
  return `#${values.join("")}`;
}

function fromTheme(text: string): Record<string, string> {
  const theme = recordOf(parse(text));
  const given = recordOf(theme.colors ?? theme["workbench.colorCustomizations"]);
  const found: Record<string, string> = {};
  const take = (name: string, ...keys: string[]) => {
    const color = keys.map(key => colorOf(given[key])).find(each => each !== undefined);
    if (color) found[name] = color;
  };
  take("background", "terminal.background", "panel.background", "editor.background");
  take("foreground", "terminal.foreground", "editor.foreground", "foreground");
  take("cursor", "terminalCursor.foreground", "editorCursor.foreground");
  take("cursorAccent", "terminalCursor.background");
  for (const hue of HUES) {
    const capital = hue.charAt(0).toUpperCase() + hue.slice(1);
    take(hue, `terminal.ansi${capital}`);
    take(brightOf(hue), `terminal.ansiBright${capital}`);
  }
  return found;
}

/** Returns `#rrggbb`; undefined if `value` isn't a colour. Transparency is ignored. */
function colorOf(value: unknown): string | undefined {
  if (typeof value !== "string" || !/^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(value))
    return undefined;
  const digits = value.length < 7 ? value.slice(1, 4).replace(/./g, "$&$&") : value.slice(1, 7);
  return `#${digits.toLowerCase()}`;
}

// Strings are matched as well, so that comments and commas inside them are kept. The closing delimiters are optional,
// so that matching doesn't take longer in a file where they're missing.
const COMMENT = /("[^"\\]*(?:\\[\s\S][^"\\]*)*"?)|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?/g;
const COMMA = /("[^"\\]*(?:\\[\s\S][^"\\]*)*"?)|,(?=\s*[}\]])/g;

/** Parses JSON with comments and trailing commas. */
function parse(text: string): unknown {
  const plain = text
    .replace(/^\uFEFF/, "")
    .replace(COMMENT, "$1")
    .replace(COMMA, "$1");
  try {
    return JSON.parse(plain);
  } catch {
    throw new SchemeError("The file is neither an iTerm2 scheme (.itermcolors) nor a VS Code theme (JSON).");
  }
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
