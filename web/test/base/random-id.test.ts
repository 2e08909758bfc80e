import { expect, test } from "vitest";
import { randomId } from "../../src/base/random-id";

test("an id is 128 random bits in hexadecimal", () => {
  const ids = Array.from({ length: 100 }, randomId);
  expect(ids.every(id => /^[0-9a-f]{32}$/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(100);
});
