import { expect, test } from "vitest";
import { age, memoryText } from "../../../src/views/processes/format";

test.each([
  [-1, "0 s"],
  [59.9, "59 s"],
  [61, "1 min 1 s"],
  [3_900, "1 h 5 min"],
  [180_000, "2 d 2 h"],
])("%d seconds are %s", (seconds, expected) => {
  expect(age(seconds)).toBe(expected);
});

test.each([
  [2_048, "2 KiB"],
  [5_242_880, "5 MiB"],
  [1_610_612_736, "1.5 GiB"],
])("%d bytes are %s", (bytes, expected) => {
  expect(memoryText(bytes)).toBe(expected);
});
