import { expect, test } from "vitest";
import { addressOf, anchorOf, decoded } from "../../../src/views/markdown/markdown";

test.each([
  ["https://example.org", "outside"],
  ["mailto:a@example.org", "outside"],
  ["docs/a.md", "inside"],
  ["../a b.png", "inside"],
  ["#title", "heading"],
  ["javascript:alert(1)", "none"],
  ["JaVaScRiPt:alert(1)", "none"],
  ["data:text/html,x", "none"],
  ["file:///etc/passwd", "none"],
  ["//example.org/x", "none"],
])("the address %s leads %s", (href, where) => {
  expect(addressOf(href)).toBe(where);
});

test("a heading has the same anchor as on GitHub", () => {
  expect(anchorOf("Add a method: `x`, ünd more!")).toBe("add-a-method-x-ünd-more");
});

test.each([
  ["%C3%BCber", "über"],
  ["100%", "100%"],
  ["%E0%A4%A", "%E0%A4%A"],
])("the anchor %s of a link leads to the heading %s", (anchor, heading) => {
  expect(decoded(anchor)).toBe(heading);
});
