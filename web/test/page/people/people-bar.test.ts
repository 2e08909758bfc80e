import { expect, test } from "vitest";
import { describe, initials } from "../../../src/page/people/people-bar";

test.each([
  ["Ada Lovelace", "AL"],
  ["ada", "A"],
  ["guest-12", "G1"],
  ["Ada King of Lovelace", "AL"],
  ["\u{1f600} x", "\u{1f600}X"],
  ["", ""],
])("the initials of %s are %s", (name, letters) => {
  expect(initials(name)).toBe(letters);
});

test("a tooltip describes the viewer", () => {
  const ada = { id: "v1", name: "Ada", color: "", focus: true, at: null } as const;
  expect(describe({ ...ada, kind: "person", read_only: false, typing: false })).toBe("Ada");
  expect(describe({ ...ada, kind: "person", read_only: true, typing: false, guest: true })).toBe(
    "Ada (guest, view only)",
  );
  expect(describe({ ...ada, kind: "agent", read_only: true, typing: true })).toBe(
    "Ada (agent, view only, typing)",
  );
  expect(describe({ ...ada, kind: "person", read_only: false, typing: false, asks: true })).toBe(
    "Ada (asks for the keyboard)",
  );
});
