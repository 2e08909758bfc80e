import { expect, test } from "vitest";
import {
  arrange,
  cssLength,
  equalize,
  FOLDED,
  type Leaf,
  leavesOf,
  MIN_SIZE,
  moveDivider,
  neighbourOf,
  removeLeaf,
  splitLeaf,
  type Tree,
  updateLeaf,
} from "../../src/frame/tree";
import { seeded } from "../fakes/random";

const leaf = (id: number): Leaf => ({ type: "leaf", id, kind: "terminal", state: { id: `t${id}` } });
const ids = (tree: Tree | undefined) => (tree ? leavesOf(tree).map(({ id }) => id) : []);

/** Two panes side by side, the right one split into two, one below the other. */
function three(): Tree {
  return splitLeaf(splitLeaf(leaf(1), 1, "row", leaf(2)), 2, "column", leaf(3));
}

test("a split gives the new pane half of the space of its neighbour", () => {
  const boxes = arrange(three()).leaves.map(({ box }) => [box.x, box.y, box.width, box.height]);
  expect(boxes).toEqual([
    [0, 0, 0.5, 1],
    [0.5, 0, 0.5, 0.5],
    [0.5, 0.5, 0.5, 0.5],
  ]);
});

test("a split in the direction of its parent becomes a part of the parent", () => {
  const tree = splitLeaf(splitLeaf(leaf(1), 1, "row", leaf(2)), 1, "row", leaf(3));
  expect(tree).toMatchObject({ type: "split", sizes: [0.25, 0.25, 0.5] });
  expect(ids(tree)).toEqual([1, 3, 2]);
});

test("the neighbours of a removed pane get its space, and the last pane leaves nothing", () => {
  expect(removeLeaf(three(), 1)).toMatchObject({ direction: "column", sizes: [0.5, 0.5] });
  expect(ids(removeLeaf(three(), 3))).toEqual([1, 2]);
  expect(removeLeaf(leaf(1), 1)).toBeUndefined();
});

test("the state of one pane is replaced", () => {
  const tree = updateLeaf(three(), 3, { state: { id: "other" } });
  expect(leavesOf(tree).map(({ state }) => state.id)).toEqual(["t1", "t2", "other"]);
});

test("a divider moves with the pointer and leaves a smallest size on both sides", () => {
  const tree = three();
  const inner = arrange(tree).dividers.find(({ direction }) => direction === "column");
  if (!inner) throw new Error("no divider");
  const moved = arrange(moveDivider(tree, inner, 0.2)).leaves.map(({ box }) => box.height);
  expect(moved[1]).toBeCloseTo(0.7);
  expect(moved[2]).toBeCloseTo(0.3);
  const far = arrange(moveDivider(tree, inner, 9)).leaves.map(({ box }) => box.height);
  expect(far[2]).toBeCloseTo(MIN_SIZE);
  const equal = arrange(equalize(moveDivider(tree, inner, 9), inner)).leaves.map(({ box }) => box.height);
  expect(equal[1]).toBeCloseTo(0.5);
});

test("the neighbour on each side is the pane that faces the middle", () => {
  const tree = three();
  expect(neighbourOf(tree, 2, "left")?.id).toBe(1);
  expect(neighbourOf(tree, 2, "down")?.id).toBe(3);
  expect(neighbourOf(tree, 3, "up")?.id).toBe(2);
  expect(neighbourOf(tree, 1, "right")?.id).toBe(3);
  expect(neighbourOf(tree, 1, "left")).toBeUndefined();
});

test("panes always fill the tab without overlapping, whatever is split, moved and removed", () => {
  const random = seeded(7);
  let tree: Tree = leaf(0);
  for (let step = 1; step < 400; step++) {
    const all = ids(tree);
    const one = all[Math.floor(random() * all.length)] as number;
    const { dividers } = arrange(tree);
    if (all.length < 8 && random() < 0.5) {
      tree = splitLeaf(tree, one, random() < 0.5 ? "row" : "column", leaf(step));
      expect(ids(tree)).toContain(step);
    } else if (dividers.length && random() < 0.5) {
      const divider = dividers[Math.floor(random() * dividers.length)];
      if (divider) tree = moveDivider(tree, divider, random() * 2 - 1);
    } else tree = removeLeaf(tree, one) ?? leaf(step);
    const { leaves } = arrange(tree);
    const area = leaves.reduce((sum, { box }) => sum + box.width * box.height, 0);
    expect(area).toBeCloseTo(1);
    for (const { box } of leaves) expect(Math.min(box.width, box.height)).toBeGreaterThan(0);
  }
});

test("a folded pane has a fixed size, its neighbours the rest, and no divider beside it", () => {
  const { leaves, dividers } = arrange(three(), new Set([2]));
  const boxes = leaves.map(({ box }) => [cssLength(box, "y"), cssLength(box, "height")]);
  expect(boxes).toEqual([
    ["0%", "100%"],
    ["0%", `calc(0% + ${FOLDED.column}px)`],
    [`calc(0% + ${FOLDED.column}px)`, `calc(100% + ${-FOLDED.column}px)`],
  ]);
  expect(dividers.map(({ direction }) => direction)).toEqual(["row"]);
});

test("a split whose panes are all folded gives its space to its neighbour, and without one it shares all", () => {
  const { leaves } = arrange(three(), new Set([2, 3]));
  expect(leaves.map(({ box }) => [cssLength(box, "x"), cssLength(box, "width")])).toEqual([
    ["0%", `calc(100% + ${-FOLDED.row}px)`],
    [`calc(100% + ${-FOLDED.row}px)`, `calc(0% + ${FOLDED.row}px)`],
    [`calc(100% + ${-FOLDED.row}px)`, `calc(0% + ${FOLDED.row}px)`],
  ]);
  expect(leaves.slice(1).map(({ box }) => cssLength(box, "height"))).toEqual(["50%", "50%"]);
  const all = arrange(three(), new Set([1, 2, 3])).leaves.map(({ box }) => box);
  expect(all).toEqual(arrange(three()).leaves.map(({ box }) => box));
});
