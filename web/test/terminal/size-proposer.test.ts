import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SETTLE, type Size, SizeProposer } from "../../src/terminal/size-proposer";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function make() {
  const world = { fitting: { cols: 100, rows: 30 } as Size | undefined, inUse: true, proposed: [] as Size[] };
  const proposer = new SizeProposer({
    fitting: () => world.fitting,
    current: () => ({ cols: 80, rows: 24 }),
    inUse: () => world.inUse,
    propose: size => world.proposed.push(size),
  });
  return { world, proposer };
}

test("resizing a window continuously proposes one size at the end", () => {
  const { world, proposer } = make();
  for (let i = 0; i < 60; i++) {
    proposer.nudge();
    vi.advanceTimersByTime(16);
  }
  expect(world.proposed).toEqual([]);
  vi.advanceTimersByTime(SETTLE);
  expect(world.proposed).toEqual([{ cols: 100, rows: 30 }]);
});

test("nothing is proposed for an unchanged size, by an unused page, or before the layout", () => {
  for (const change of [{ fitting: { cols: 80, rows: 24 } }, { inUse: false }, { fitting: undefined }]) {
    const { world, proposer } = make();
    Object.assign(world, change);
    proposer.nudge();
    vi.advanceTimersByTime(SETTLE);
    expect(world.proposed).toEqual([]);
  }
});
