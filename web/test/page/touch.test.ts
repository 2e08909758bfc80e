import { expect, test } from "vitest";
import { Lines } from "../../src/page/touch";

test("a finger that moves slowly moves lines, each once", () => {
  const lines = new Lines();
  expect([5, 5, 5, 5, -3, -12, -20].map(pixels => lines.add(pixels, 16))).toEqual([0, 0, 0, 1, 0, 0, -1]);
});
