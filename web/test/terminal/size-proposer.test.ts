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

test("a window that is dragged asks once, when it is still", () => {
  const { world, proposer } = make();
  for (let i = 0; i < 60; i++) {
    proposer.nudge();
    vi.advanceTimersByTime(16);
  }
  expect(world.proposed).toEqual([]);
  vi.advanceTimersByTime(SETTLE);
  expect(world.proposed).toEqual([{ cols: 100, rows: 30 }]);
});

test("nothing is asked for what is so already, by a page not in use, or before there is a layout", () => {
  for (const change of [{ fitting: { cols: 80, rows: 24 } }, { inUse: false }, { fitting: undefined }]) {
    const { world, proposer } = make();
    Object.assign(world, change);
    proposer.nudge();
    vi.advanceTimersByTime(SETTLE);
    expect(world.proposed).toEqual([]);
  }
});
