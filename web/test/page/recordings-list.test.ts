import { expect, test } from "vitest";
import { describe } from "../../src/page/recordings-list";
import type { RecordingInfo } from "../../src/wire/methods";

const INFO: RecordingInfo = {
  instance: "i",
  cols: 80,
  rows: 24,
  message: "",
  screens: 0,
  index: 0,
  markers: 0,
  lost: 0,
  id: "r1",
  terminal: "main",
  input: false,
  started: 0,
  state: "finished",
  duration: 65,
  size: 1_500,
  truncated: false,
};

test("a recording is described by its start, duration and size", () => {
  expect(describe(INFO)).toMatch(/ · 1:05 · 1\.5 kB$/);
});

test("the description says that it is being recorded, has input, or is incomplete", () => {
  const all = describe({ ...INFO, state: "recording", input: true, truncated: true });
  expect(all).toMatch(/ · recording now · 1\.5 kB · with input · incomplete$/);
});
