import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { limitFrames } from "../../src/terminal/frame-limit";

function terminalOf() {
  const model = { finalSelectionStart: undefined as unknown };
  const drawn = vi.fn();
  const redrawn = vi.fn();
  const debouncer = { _animationFrame: undefined as number | undefined, _innerRefresh: () => drawn() };
  const _core = {
    _writeBuffer: { _action: vi.fn() },
    _renderService: { _renderDebouncer: debouncer },
    _selectionService: { _model: model, refresh: redrawn },
  };
  const buffer = { active: { type: "normal" } };
  limitFrames({ buffer, _core } as never);
  return {
    ...{ model, drawn, redrawn, buffer },
    write: (bytes: number) => _core._writeBuffer._action(new Uint8Array(bytes)),
    frame: () => debouncer._innerRefresh(),
    select: () => _core._selectionService.refresh(),
  };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(100_000);
  vi.stubGlobal("requestAnimationFrame", (callback: () => void) => setTimeout(callback, 16));
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("a flood is drawn every 50 ms, and its end is drawn too", async () => {
  const { write, frame, drawn } = terminalOf();
  vi.advanceTimersByTime(1_000);
  frame();
  expect(drawn).toHaveBeenCalledTimes(1);
  write(20_000);
  frame();
  expect(drawn).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(70);
  expect(drawn).toHaveBeenCalledTimes(2);
});

test("single screens of text and full-screen programs are drawn in each frame", () => {
  const { write, frame, drawn, buffer } = terminalOf();
  vi.advanceTimersByTime(1_000);
  frame();
  write(10_000);
  frame();
  buffer.active.type = "alternate";
  write(100_000);
  frame();
  expect(drawn).toHaveBeenCalledTimes(3);
});

test("a selection is drawn while there is one, and once more when it is removed", () => {
  const { select, redrawn, model } = terminalOf();
  select();
  expect(redrawn).not.toHaveBeenCalled();
  model.finalSelectionStart = [0, 0];
  select();
  select();
  model.finalSelectionStart = undefined;
  select();
  select();
  expect(redrawn).toHaveBeenCalledTimes(3);
});

test("an xterm.js with other internals is left unchanged", () => {
  expect(() => limitFrames({ buffer: {} } as never)).not.toThrow();
});
