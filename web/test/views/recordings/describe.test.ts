import { expect, test } from "vitest";
import { describe, findRecordings, titleOf } from "../../../src/views/recordings/describe";
import type { RecordingInfo } from "../../../src/wire/methods";

const INFO = {
  id: "r1",
  terminal: "main",
  title: null,
  started: 0,
  state: "finished",
  duration: 61,
  size: 2048,
  markers: 0,
  input: false,
  truncated: false,
} as unknown as RecordingInfo;

test("a recording without a title has the name of its terminal", () => {
  expect(titleOf(INFO)).toBe("Terminal main");
  expect(titleOf({ ...INFO, title: "Release" })).toBe("Release");
});

test("the description has the length, the size and special properties", () => {
  const [length, , size, ...more] = describe({ ...INFO, markers: 2, input: true, truncated: true }).split(
    " · ",
  );
  const plain = [length, size, ...more].map(fact => fact?.replaceAll("\u00a0", " "));
  expect(plain).toEqual(["1:01", "2.0 kB", "2 markers", "with input", "incomplete"]);
  expect(describe({ ...INFO, markers: 1 })).toMatch(/1\smarker$/);
  expect(describe({ ...INFO, state: "recording" })).toMatch(/^recording\snow/);
});

test("a recording is found by words of its title or terminal", () => {
  const all = [INFO, { ...INFO, id: "r2", title: "Release of May", terminal: "build" }];
  expect(findRecordings(all, "").length).toBe(2);
  expect(findRecordings(all, "may RELEASE").map(({ id }) => id)).toEqual(["r2"]);
  expect(findRecordings(all, "main").map(({ id }) => id)).toEqual(["r1"]);
  expect(findRecordings(all, "nothing")).toEqual([]);
});

test("a recording of a desktop has the name of the desktop", () => {
  const info = { ...INFO, title: null, terminal: "", desktop: "main" };
  expect(titleOf(info)).toBe("Desktop main");
  expect(findRecordings([info], "desktop")).toEqual([info]);
});
