import { expect, test } from "vitest";
import { elementsOf, membersOf } from "../../../src/views/notebook/json-ranges";

test("members and elements are found with the text that they have", () => {
  const text = ' { "a" : [1.0, "]\\"", {"b": [2]} ], "c\\n":{"x":"}"}  ,"d":null , "a2":-1e400}';
  const members = membersOf(text, 1);
  const slice = ({ start, end }: { start: number; end: number }) => text.slice(start, end);
  expect([...members].map(([name, range]) => [name, slice(range)])).toEqual([
    ["a", '[1.0, "]\\"", {"b": [2]} ]'],
    ["c\n", '{"x":"}"}'],
    ["d", "null"],
    ["a2", "-1e400"],
  ]);
  const list = members.get("a");
  expect(elementsOf(text, list?.start ?? 0).map(slice)).toEqual(["1.0", '"]\\""', '{"b": [2]}']);
});

test.each(["{}", "{ }", "[]", "[\n]"])("%s is empty", text => {
  expect(text.startsWith("{") ? membersOf(text, 0).size : elementsOf(text, 0).length).toBe(0);
});

test("of members with one name, the last one counts, as in JSON.parse", () => {
  const text = '{"a": 1, "a": 22}';
  expect(membersOf(text, 0).get("a")).toEqual({ start: 14, end: 16 });
});
