import { expect, test } from "vitest";
import { formatSize, formatTime } from "../../src/base/format";

test("a time has minutes and seconds, and hours if there are any", () => {
  expect([0, 59.9, 61, 3661].map(formatTime)).toEqual(["0:00", "0:59", "1:01", "1:01:01"]);
});

test("a size has two significant digits and a decimal unit", () => {
  expect([999, 3800, 52_000, 1_500_000].map(formatSize)).toEqual(["999 B", "3.8 kB", "52 kB", "1.5 MB"]);
});
