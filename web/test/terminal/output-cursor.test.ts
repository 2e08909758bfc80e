import { expect, test } from "vitest";
import { OutputCursor } from "../../src/terminal/output-cursor";
import type { TerminalOpened } from "../../src/wire/methods";
import type { Frame, Kind } from "../../src/wire/protocol";
import { FakeSink } from "../fakes/harness";

function opened(change: Partial<TerminalOpened>): TerminalOpened {
  const start = { start_at: "start", from: 0, screen: 0, input_offset: 0, cols: 80, rows: 24 } as const;
  return { ...start, ...change } as TerminalOpened;
}

function frame(kind: Kind, offset: number, text: string): Frame {
  return { kind, ch: 1, offset, payload: new TextEncoder().encode(text) };
}

function make(first: Partial<TerminalOpened> = {}) {
  const sink = new FakeSink();
  const cursor = new OutputCursor(sink);
  expect(cursor.opened(opened(first))).toBe(true);
  let parsedFrames = 0;
  return {
    sink,
    cursor,
    output: (offset: number, text: string) => cursor.output(frame(1, offset, text), () => parsedFrames++),
    screen: (offset: number, text: string) => cursor.screen(frame(3, offset, text), () => parsedFrames++),
    shown: () => new TextDecoder().decode(Uint8Array.from(sink.bytes)),
    parsedFrames: () => parsedFrames,
  };
}

test("known bytes are dropped, whole frames or parts, and their credit is returned", () => {
  const { cursor, output, shown, parsedFrames, sink } = make();
  expect(output(0, "abc")).toBe(true);
  expect(output(0, "abc")).toBe(true);
  expect(parsedFrames()).toBe(1);
  expect(output(1, "bcd")).toBe(true);
  sink.parse();
  expect([shown(), cursor.offset, parsedFrames()]).toEqual(["abcd", 4, 3]);
});

test("a gap is rejected and changes nothing", () => {
  const { cursor, output, shown } = make();
  output(0, "abc");
  expect(output(4, "x")).toBe(false);
  expect([shown(), cursor.offset]).toEqual(["abc", 3]);
});

test("a resume at another offset is rejected", () => {
  const { cursor, output } = make();
  output(0, "abc");
  expect(cursor.opened(opened({ start_at: "resume", from: 2 }))).toBe(false);
  expect(cursor.opened(opened({ start_at: "resume", from: 3 }))).toBe(true);
});

test("a snapshot must be complete before output and before a resume", () => {
  const { cursor, output, screen } = make({ start_at: "snapshot", from: 100, screen: 4 });
  expect(output(100, "x")).toBe(false);
  expect(screen(0, "ab")).toBe(true);
  expect(cursor.resumable).toBe(false);
  expect(screen(0, "cd")).toBe(false);
  expect(screen(2, "cde")).toBe(false);
  expect(screen(2, "cd")).toBe(true);
  expect(cursor.resumable).toBe(true);
  expect(output(100, "x")).toBe(true);
  expect(cursor.offset).toBe(101);
});

test("the gate opens at live for the viewer that answers, and follows later choices", () => {
  const { cursor, sink } = make({ answers: true });
  expect(sink.gateOpen).toBe(false);
  cursor.live();
  expect(sink.gateOpen).toBe(true);
  cursor.answers(false);
  expect(sink.gateOpen).toBe(false);
  cursor.snapshot({ from: 5, screen: 0, cols: 80, rows: 24 });
  cursor.answers(true);
  expect(sink.gateOpen).toBe(false);
  cursor.live();
  expect(sink.gateOpen).toBe(true);
});
