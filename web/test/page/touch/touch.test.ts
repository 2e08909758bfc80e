import { expect, test } from "vitest";
import { LineAccumulator } from "../../../src/page/touch/touch";

test("small movements add up to whole lines", () => {
  const lines = new LineAccumulator();
  expect([5, 5, 5, 5, -3, -12, -20].map(pixels => lines.add(pixels, 16))).toEqual([0, 0, 0, 1, 0, 0, -1]);
});
