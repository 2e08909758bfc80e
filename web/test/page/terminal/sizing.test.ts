import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Emitter } from "../../../src/base/disposables";
import { foreignSizeOf, Sizing } from "../../../src/page/terminal/sizing";
import { SETTLE, type Size } from "../../../src/terminal/size-proposer";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function make() {
  let resized = () => {};
  vi.stubGlobal("window", new EventTarget());
  vi.stubGlobal("document", { hidden: false });
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(callback: () => void) {
        resized = callback;
      }
      observe() {}
      disconnect() {}
    },
  );
  const state = new Emitter<{ phase: string }>();
  const onResize = new Emitter<void>();
  const layout = { adapted: 0, adapt: () => layout.adapted++, fitting: () => ({ cols: 100, rows: 30 }) };
  const proposed: Size[] = [];
  const replayed = new Emitter<void>();
  const attached = { channel: { onState: state.on }, onReplayed: replayed.on };
  const terminal = { onResize: onResize.on };
  const sizing = new Sizing({} as never, terminal as never, layout as never, attached as never, {
    propose: size => proposed.push(size),
    inUse: () => true,
  });
  const waitForProposal = () => vi.advanceTimersByTime(SETTLE);
  return { sizing, layout, proposed, state, replayed, onResize, resize: () => resized(), waitForProposal };
}

test("a new layout is applied at once and proposed once", () => {
  const { layout, proposed, resize, waitForProposal } = make();
  resize();
  resize();
  waitForProposal();
  resize();
  waitForProposal();
  expect([layout.adapted, proposed]).toEqual([3, [{ cols: 100, rows: 30 }]]);
});

test("after another attach the size is proposed again", () => {
  const { proposed, state, waitForProposal } = make();
  for (const phase of ["live", "attaching", "live"]) {
    state.emit({ phase });
    waitForProposal();
  }
  expect(proposed).toHaveLength(2);
});

test("the layout follows a size that another viewer chose", () => {
  const { layout, onResize } = make();
  onResize.emit();
  expect(layout.adapted).toBe(1);
});

test("the sizes of a replay have one layout, at its end", () => {
  const { layout, onResize, state, replayed } = make();
  state.emit({ phase: "replaying" });
  onResize.emit();
  state.emit({ phase: "live" });
  onResize.emit(); // the emulator is behind the connection
  expect(layout.adapted).toBe(0);
  replayed.emit();
  expect(layout.adapted).toBe(1);
  onResize.emit();
  expect(layout.adapted).toBe(2);
});

test.each([
  ["the only other viewer", [{ name: "Ada", focus: false }], "Ada"],
  ["the only one with the focus", [{ name: "Ada" }, { name: "Bob", focus: true }], "Bob"],
  [
    "unknown with several",
    [
      { name: "Ada", focus: true },
      { name: "Bob", focus: true },
    ],
    undefined,
  ],
])("the viewer with another size is %s", (_, others, name) => {
  const open = {
    terminal: { cols: 90, rows: 20 },
    layout: { fitting: () => ({ cols: 100, rows: 30 }) },
    channel: { people: { others, readOnly: false } },
  };
  expect(foreignSizeOf(open as never)).toMatchObject({ cols: 90, rows: 20, mayUse: true });
  expect(foreignSizeOf(open as never)?.of?.name).toBe(name);
});
