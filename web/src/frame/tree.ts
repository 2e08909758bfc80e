// The tree of splits in one tab. The functions are pure and the values immutable: a change returns a new tree.

import type { PaneState } from "./pane";

export interface Leaf {
  readonly type: "leaf";
  /** Unique within the page. */
  readonly id: number;
  readonly kind: string;
  readonly state: PaneState;
}

export interface Split {
  readonly type: "split";
  /** In a `row`, the children are side by side; in a `column`, one below the other. */
  readonly direction: Direction;
  /** The fraction that each child takes up; they add up to 1. */
  readonly sizes: readonly number[];
  readonly children: readonly Tree[];
}

export type Tree = Leaf | Split;
export type Direction = "row" | "column";
/** Child indexes, starting at the root. */
export type Path = readonly number[];

/** Fractions of the whole, from 0 to 1. `pixels` are added to each fraction because folded panes have a fixed size. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly pixels?: Omit<Box, "pixels">;
}

export interface Divider {
  readonly path: Path;
  /** The divider is after the child with this index. */
  readonly index: number;
  readonly direction: Direction;
  readonly box: Box;
  /** The combined area of the two children next to the divider, within which it can move. */
  readonly range: Box;
}

export interface Arrangement {
  readonly leaves: readonly { leaf: Leaf; box: Box }[];
  readonly dividers: readonly Divider[];
}

/** The smallest fraction of a split that a divider leaves to a child. */
export const MIN_SIZE = 0.08;
/** Maximum number of panes in a tab; with more, they'd be too small to read. */
export const MAX_PANES = 12;

/** Size of a folded pane in pixels: its header and a line below it, or a column with its buttons. */
export const FOLDED: Readonly<Record<Direction, number>> = { column: 76, row: 160 };
/** Size of a folded pane on a narrow page or a touch screen, where the buttons are below the line. */
export const FOLDED_LARGE: Readonly<Record<Direction, number>> = { column: 144, row: 160 };

/** Returns a side of a box as a CSS length. */
export function cssLength(box: Box, side: "x" | "y" | "width" | "height"): string {
  const part = `${box[side] * 100}%`;
  const pixels = box.pixels?.[side];
  return pixels ? `calc(${part} + ${pixels}px)` : part;
}

const WHOLE: Box = { x: 0, y: 0, width: 1, height: 1 };

export function leavesOf(tree: Tree): Leaf[] {
  return tree.type === "leaf" ? [tree] : tree.children.flatMap(leavesOf);
}

/** Returns the tree with `added` next to the leaf `id`, which gives up half of its space. */
export function splitLeaf(tree: Tree, id: number, direction: Direction, added: Leaf): Tree {
  if (tree.type === "leaf") {
    if (tree.id !== id) return tree;
    return { type: "split", direction, sizes: [0.5, 0.5], children: [tree, added] };
  }
  const at = tree.children.findIndex(child => child.type === "leaf" && child.id === id);
  if (at < 0 || tree.direction !== direction) {
    return { ...tree, children: tree.children.map(child => splitLeaf(child, id, direction, added)) };
  }
  const half = (tree.sizes[at] ?? 0) / 2;
  return {
    ...tree,
    children: tree.children.toSpliced(at + 1, 0, added),
    sizes: tree.sizes.toSpliced(at, 1, half, half),
  };
}

/** Removes the leaf and gives its space to its neighbours. Returns undefined if it was the only leaf. */
export function removeLeaf(tree: Tree, id: number): Tree | undefined {
  if (tree.type === "leaf") return tree.id === id ? undefined : tree;
  const kept: Tree[] = [];
  const sizes: number[] = [];
  for (const [index, child] of tree.children.entries()) {
    const rest = removeLeaf(child, id);
    if (!rest) continue;
    // A split in the same direction as its parent has been merged into it.
    if (rest.type === "split" && rest.direction === tree.direction && rest !== child) {
      kept.push(...rest.children);
      sizes.push(...rest.sizes.map(size => size * (tree.sizes[index] ?? 0)));
    } else {
      kept.push(rest);
      sizes.push(tree.sizes[index] ?? 0);
    }
  }
  if (kept.length < 2) return kept[0];
  return { ...tree, children: kept, sizes: normalized(sizes) };
}

/**
 * Returns the tree with the members of `change` applied to the leaf `id`. A different `id` makes it a different pane.
 */
export function updateLeaf(tree: Tree, id: number, change: Partial<Leaf>): Tree {
  if (tree.type === "leaf") return tree.id === id ? { ...tree, ...change } : tree;
  return { ...tree, children: tree.children.map(child => updateLeaf(child, id, change)) };
}

/**
 * Moves a divider by `delta`, a fraction of the whole tab, but no further than the minimum sizes of both sides allow.
 */
export function moveDivider(tree: Tree, { path, index, direction, range }: Divider, delta: number): Tree {
  const extent = direction === "row" ? range.width : range.height;
  return updateSplit(tree, path, split => {
    const before = split.sizes[index] ?? 0;
    const both = before + (split.sizes[index + 1] ?? 0);
    const least = Math.min(MIN_SIZE, both / 2);
    const wanted = before + (delta / extent) * both;
    const moved = Math.min(both - least, Math.max(least, wanted));
    return { ...split, sizes: split.sizes.toSpliced(index, 2, moved, both - moved) };
  });
}

/** Gives all children in the divider's split the same size. */
export function equalize(tree: Tree, { path }: Divider): Tree {
  return updateSplit(tree, path, split => ({
    ...split,
    sizes: split.sizes.map(() => 1 / split.sizes.length),
  }));
}

/** `folded` contains the panes folded to one line, and `pixels` the size of each. */
export function arrange(tree: Tree, folded: ReadonlySet<number> = new Set(), pixels = FOLDED): Arrangement {
  const leaves: { leaf: Leaf; box: Box }[] = [];
  const dividers: Divider[] = [];
  const walk = (node: Tree, box: Box, path: Path): void => {
    if (node.type === "leaf") {
      leaves.push({ leaf: node, box });
      return;
    }
    const fixed = node.children.map(child => fixedSize(child, node.direction, folded, pixels));
    const boxes = boxesOf(node, box, fixed);
    for (const [index, child] of node.children.entries()) {
      const own = boxes[index] as Box;
      walk(child, own, [...path, index]);
      const next = boxes[index + 1];
      // A folded pane has no divider next to it.
      const fix = fixed[index] !== undefined || fixed[index + 1] !== undefined;
      if (next && !fix) dividers.push(dividerBetween(own, next, { path, index, direction: node.direction }));
    }
  };
  walk(tree, WHOLE, []);
  return { leaves, dividers };
}

/** Returns the nearest leaf on this side of the leaf `id`, level with the middle of that leaf. */
export function neighbourOf(
  tree: Tree,
  id: number,
  side: "left" | "right" | "up" | "down",
): Leaf | undefined {
  const { leaves } = arrange(tree);
  const from = leaves.find(({ leaf }) => leaf.id === id)?.box;
  if (!from) return undefined;
  const middle = { x: from.x + from.width / 2, y: from.y + from.height / 2 };
  const reach = 1e-6;
  const found = leaves.filter(({ box }) => {
    const level = box.y <= middle.y && middle.y < box.y + box.height;
    const above = box.x <= middle.x && middle.x < box.x + box.width;
    if (side === "left") return level && Math.abs(box.x + box.width - from.x) < reach;
    if (side === "right") return level && Math.abs(box.x - from.x - from.width) < reach;
    if (side === "up") return above && Math.abs(box.y + box.height - from.y) < reach;
    return above && Math.abs(box.y - from.y - from.height) < reach;
  });
  return found[0]?.leaf;
}

function updateSplit(tree: Tree, path: Path, change: (split: Split) => Split): Tree {
  if (tree.type === "leaf") return tree;
  const [first, ...rest] = path;
  if (first === undefined) return change(tree);
  return {
    ...tree,
    children: tree.children.map((child, index) =>
      index === first ? updateSplit(child, rest, change) : child,
    ),
  };
}

/** Returns the size of a folded pane in this direction, in pixels; undefined for a pane whose size is a fraction. */
function fixedSize(
  tree: Tree,
  direction: Direction,
  folded: ReadonlySet<number>,
  pixels: typeof FOLDED,
): number | undefined {
  if (tree.type === "leaf") return folded.has(tree.id) ? pixels[direction] : undefined;
  const sizes = tree.children.map(child => fixedSize(child, direction, folded, pixels));
  if (sizes.includes(undefined)) return undefined;
  const known = sizes as number[];
  return tree.direction === direction ? known.reduce((sum, size) => sum + size, 0) : Math.max(...known);
}

/**
 * `fixed` contains the sizes of the folded children in pixels; the others share the remaining space. If all children
 * are folded, they share all of the space.
 */
function boxesOf({ direction, sizes }: Split, box: Box, fixed: readonly (number | undefined)[]): Box[] {
  const all = !fixed.includes(undefined);
  const pixels = all ? fixed.map(() => undefined) : fixed;
  const share = sizes.reduce((sum, size, index) => sum + (pixels[index] === undefined ? size : 0), 0);
  const taken = pixels.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  const [start, extent] = direction === "row" ? (["x", "width"] as const) : (["y", "height"] as const);
  const none = { x: 0, y: 0, width: 0, height: 0 };
  const outer = { ...none, ...box.pixels };
  let at = box[start];
  let atPixels = outer[start];
  return sizes.map((size, index) => {
    const fix = pixels[index];
    const part = fix === undefined ? size / share : 0;
    const own = part * box[extent];
    const ownPixels = fix ?? part * (outer[extent] - taken);
    const inner = { ...outer, [start]: atPixels, [extent]: ownPixels };
    const result = { ...box, [start]: at, [extent]: own };
    at += own;
    atPixels += ownPixels;
    return Object.values(inner).some(value => value !== 0) ? { ...result, pixels: inner } : result;
  });
}

function dividerBetween(a: Box, b: Box, which: Pick<Divider, "path" | "index" | "direction">): Divider {
  const range =
    which.direction === "row" ? { ...a, width: a.width + b.width } : { ...a, height: a.height + b.height };
  const thin = which.direction === "row" ? { width: 0 } : { height: 0 };
  const pixels = b.pixels && { pixels: { ...b.pixels, ...thin } };
  return { ...which, box: { ...b, ...thin, ...pixels }, range };
}

function normalized(sizes: readonly number[]): number[] {
  const sum = sizes.reduce((total, size) => total + size, 0);
  return sizes.map(size => size / sum);
}
