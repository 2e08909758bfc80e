// A tree of splits as text, for the page's address: `row(60:terminal~id~main,40:editor~path~src/app.py)`.
//
// A pane is written as its kind and its state, which consists of names and values, all separated by `~`. A split lists
// its children with their sizes in percent. The text uses only characters that don't need escaping in a query. Other
// characters in a value are written as `*` and four or, after `**`, six hexadecimal digits of their code point.

import type { PaneState } from "./pane";
import { type Direction, type Leaf, MAX_PANES, type Tree } from "./tree";

/** Maximum length of a text to parse, in characters; this page doesn't generate longer ones. */
const MAX_LENGTH = 8_000;
/** Maximum nesting depth of splits. */
const MAX_DEPTH = 8;
const UNSAFE = /[^A-Za-z0-9_.\-/]/gu;

export function treeToText(tree: Tree): string {
  if (tree.type === "leaf") return leafToText(tree);
  const parts = tree.children.map((child, i) => `${percent(tree.sizes[i] ?? 0)}:${treeToText(child)}`);
  return `${tree.direction}(${parts.join(",")})`;
}

/** Parses a tree; returns undefined if `text` isn't a tree. `nextId` assigns ids to the panes. */
export function treeFromText(text: string, nextId: () => number): Tree | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  return new Reader(text, nextId).read();
}

function leafToText({ kind, state }: Leaf): string {
  const words = [kind, ...Object.entries(state).flat()];
  return words.map(word => word.replace(UNSAFE, escaped)).join("~");
}

function escaped(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16);
  return code.length <= 4 ? `*${code.padStart(4, "0")}` : `**${code.padStart(6, "0")}`;
}

function unescaped(word: string): string {
  return word.replace(/\*\*([0-9a-f]{6})|\*([0-9a-f]{4})/g, (all, long, short) => {
    const code = Number.parseInt(long ?? short, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}

function percent(size: number): string {
  return String(Math.max(1, Math.round(size * 1000) / 10));
}

class Reader {
  readonly #text: string;
  readonly #nextId: () => number;
  #at = 0;
  #leaves = 0;

  constructor(text: string, nextId: () => number) {
    this.#text = text;
    this.#nextId = nextId;
  }

  read(): Tree | undefined {
    const tree = this.#tree(0);
    return this.#at === this.#text.length ? tree : undefined;
  }

  #tree(depth: number): Tree | undefined {
    const split = this.#take(/(row|column)\(/y);
    if (!split) return this.#leaf();
    if (depth >= MAX_DEPTH) return undefined;
    const children: Tree[] = [];
    const sizes: number[] = [];
    do {
      const size = Number(this.#take(/(\d{1,3}(?:\.\d)?):/y));
      const child = size > 0 ? this.#tree(depth + 1) : undefined;
      if (!child) return undefined;
      sizes.push(size);
      children.push(child);
    } while (this.#take(/(,)/y));
    if (!this.#take(/(\))/y) || children.length < 2) return undefined;
    const sum = sizes.reduce((total, size) => total + size, 0);
    return { type: "split", direction: split as Direction, children, sizes: sizes.map(size => size / sum) };
  }

  #leaf(): Leaf | undefined {
    const words = this.#take(/([^,()]+)/y)
      ?.split("~")
      .map(unescaped);
    const [kind, ...pairs] = words ?? [];
    if (!kind || pairs.length % 2 || ++this.#leaves > MAX_PANES) return undefined;
    const state: Record<string, string> = {};
    for (let i = 0; i < pairs.length; i += 2) state[pairs[i] as string] = pairs[i + 1] as string;
    return { type: "leaf", id: this.#nextId(), kind, state: state satisfies PaneState };
  }

  /** Returns the first group of a match at the current position, and advances past the match. */
  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (!match) return undefined;
    this.#at = pattern.lastIndex;
    return match[1];
  }
}
