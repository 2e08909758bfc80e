import { expect, test } from "vitest";
import { nextRegion } from "../../src/page/regions";

test("regions are walked in both directions around the ends", () => {
  const regions = ["strip", "pane", "status"];
  expect(nextRegion(regions, "strip", 1)).toBe("pane");
  expect(nextRegion(regions, "status", 1)).toBe("strip");
  expect(nextRegion(regions, "strip", -1)).toBe("status");
});

test("from outside of all regions the first or the last one is next", () => {
  expect(nextRegion(["strip", "pane"], undefined, 1)).toBe("strip");
  expect(nextRegion(["strip", "pane"], undefined, -1)).toBe("pane");
  expect(nextRegion([], undefined, 1)).toBeUndefined();
});
