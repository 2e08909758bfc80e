import { expect, test } from "vitest";
import { Actions } from "../../src/frame/actions";
import { groupsOf } from "../../src/frame/shortcuts";

test("the list has the actions with a shortcut and the fixed keys, by group", () => {
  const actions = new Actions(false);
  const run = () => {};
  actions.add({
    id: "a",
    label: "Find",
    group: "Terminal",
    keys: { mac: "Meta+F", other: "Control+Shift+F" },
    run,
  });
  actions.add({ id: "b", label: "Without a key", group: "Terminal", run });
  const groups = groupsOf(actions, [{ group: "Terminal", label: "Paste", keys: "Ctrl+V" }]);
  expect([...groups]).toEqual([
    [
      "Terminal",
      [
        { label: "Find", keys: "Ctrl+Shift+F" },
        { label: "Paste", keys: "Ctrl+V" },
      ],
    ],
  ]);
});
