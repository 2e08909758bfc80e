import { expect, test } from "vitest";
import { memberText, utf8Length } from "../../src/wire/json-slice";

test.each([
  ['{"value":1.0,"type":"event"}', "1.0"],
  [
    '{"type":"event","value": {"a":[1,"}"],"b":"\\"value\\":2"} ,"ch":1}',
    '{"a":[1,"}"],"b":"\\"value\\":2"}',
  ],
  ['{"name":"value","value":"x\\\\"}', '"x\\\\"'],
  ['{"other":{"value":1},"v\\u0061lue":null}', "null"],
  ['{"value":[],"value":[[]]}', "[[]]"],
  ['{\n"value"\t:\n-0.5e3\n}', "-0.5e3"],
  ['{"a":1}', undefined],
  ["{}", undefined],
])("memberText finds the text of the value in %s", (text, expected) => {
  expect(memberText(text, "value")).toBe(expected);
});

test("utf8Length counts the bytes of UTF-8", () => {
  for (const text of ["", "abc", "é", "–", "😀", "a😀é–\u0000\uffff"]) {
    expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
  }
});
