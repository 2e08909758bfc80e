// Selects which representation in a MIME bundle to show.

export type Shown =
  | { readonly how: "frame"; readonly type: string; readonly text: string }
  | { readonly how: "image"; readonly type: string; readonly base64: string }
  | { readonly how: "markdown"; readonly text: string }
  | { readonly how: "json"; readonly type: string; readonly value: unknown }
  | { readonly how: "text"; readonly text: string };

/**
 * The types to show, best first. JSON types for charts, such as Plotly's, come second to last and are shown as data.
 */
const ORDER = [
  "text/html",
  "image/svg+xml",
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "text/markdown",
  "application/javascript",
  "text/latex",
];
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

/** Returns how to show a bundle; undefined if it contains no type that can be shown. */
export function shownOf(data: Readonly<Record<string, unknown>>): Shown | undefined {
  for (const type of ORDER) {
    const text = textOf(data[type]);
    if (!text) continue;
    if (type === "text/markdown") return { how: "markdown", text };
    if (type === "text/latex") return { how: "text", text };
    if (!type.startsWith("image/") || type === "image/svg+xml") return { how: "frame", type, text };
    if (BASE64.test(text)) return { how: "image", type, base64: text.replace(/\s/g, "") };
  }
  for (const [type, value] of Object.entries(data))
    if (/^application\/(?:.+\+)?json$/.test(type)) return { how: "json", type, value };
  const plain = textOf(data["text/plain"]);
  return plain === undefined ? undefined : { how: "text", text: plain };
}

/** A value is text, or an array of lines as in notebook files. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every(line => typeof line === "string")) return value.join("");
  return undefined;
}
