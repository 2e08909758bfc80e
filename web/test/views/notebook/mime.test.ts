import { expect, test } from "vitest";
import { shownOf } from "../../../src/views/notebook/mime";

test.each([
  [
    { "text/html": "<b>", "text/plain": "b" },
    { how: "frame", type: "text/html", text: "<b>" },
  ],
  [{ "image/svg+xml": ["<svg>", "</svg>"] }, { how: "frame", type: "image/svg+xml", text: "<svg></svg>" }],
  [
    { "image/png": "aGk=\n", "text/plain": "x" },
    { how: "image", type: "image/png", base64: "aGk=" },
  ],
  [{ "text/markdown": "# a" }, { how: "markdown", text: "# a" }],
  [
    { "text/latex": "$x$", "text/plain": "x" },
    { how: "text", text: "$x$" },
  ],
  [
    { "application/vnd.plotly.v1+json": { data: [] }, "text/plain": "Figure" },
    { how: "json", type: "application/vnd.plotly.v1+json", value: { data: [] } },
  ],
  [
    { "text/html": "", "text/plain": "only" },
    { how: "text", text: "only" },
  ],
  [{ "application/x-unknown": "?" }, undefined],
])("%j is shown as %j", (data, shown) => {
  expect(shownOf(data as Record<string, unknown>)).toEqual(shown);
});

test("data that is not base64 is not an image", () => {
  expect(shownOf({ "image/png": '"><script>' })).toBeUndefined();
});
