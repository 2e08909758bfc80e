import { expect, test } from "vitest";
import { scrolledBack, viewFromText, viewToText } from "../../../src/page/people/view-text";

test.each([
  [{ kind: "terminal", state: { id: "main" }, scroll: 0 }, "terminal~id~main"],
  [{ kind: "terminal", state: { id: "main" }, scroll: 120 }, "terminal~id~main~scroll~120"],
  [{ kind: "editor", state: { path: 'a "b".md' }, scroll: 0 }, "editor~path~a*0020*0022b*0022.md"],
])("a view is the pane in the notation of the address: %o", (view, text) => {
  expect(viewToText(view)).toBe(text);
  expect(viewFromText(text)).toEqual(view);
});

test("a text that the server would refuse is left out", () => {
  expect(viewToText({ kind: "editor", state: { path: "x".repeat(200) }, scroll: 0 })).toBe("");
});

test.each(["", "row(50:a,50:b)", "terminal~id", "a,b", "x".repeat(201)])("%s is not a view", text => {
  expect(viewFromText(text)).toBeUndefined();
});

test("a position that is not a number is the end", () => {
  expect(viewFromText("terminal~id~main~scroll~-1")?.scroll).toBe(0);
  expect(viewFromText("terminal~id~main~scroll~999999999999")?.scroll).toBe(0);
});

test("a terminal is scrolled back by the rows below the last one that is shown", () => {
  expect(scrolledBack({ buffer: { active: { viewportY: 80, baseY: 100 } } })).toBe(20);
  expect(scrolledBack(undefined)).toBe(0);
});
