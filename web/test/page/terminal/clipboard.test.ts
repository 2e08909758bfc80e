import { afterEach, expect, test, vi } from "vitest";
import { handleClipboardKey } from "../../../src/page/terminal/clipboard";

afterEach(() => void vi.unstubAllGlobals());

function press(keys: Partial<KeyboardEvent>, selection = "") {
  const copied: string[] = [];
  vi.stubGlobal("navigator", { clipboard: { writeText: async (text: string) => copied.push(text) } });
  const terminal = {
    selection,
    hasSelection: () => terminal.selection !== "",
    getSelection: () => terminal.selection,
    clearSelection: () => {
      terminal.selection = "";
    },
  };
  const base = {
    type: "keydown",
    ctrlKey: true,
    shiftKey: false,
    altKey: false,
    metaKey: false,
    preventDefault() {},
  };
  const handled = handleClipboardKey(terminal as never, { ...base, ...keys } as KeyboardEvent);
  return { handled, copied, terminal };
}

test("Ctrl+C copies a selection and clears it, and without one reaches the program", async () => {
  const { handled, copied, terminal } = press({ key: "c" }, "text");
  await vi.waitFor(() => expect(terminal.selection).toBe(""));
  expect([handled, copied]).toEqual([true, ["text"]]);
  expect(press({ key: "c" }).handled).toBe(false);
});

test.each([
  [{ key: "C", shiftKey: true }, true],
  [{ key: "V", shiftKey: true }, true],
  [{ key: "v" }, false],
  [{ key: "c", altKey: true }, false],
  [{ key: "c", ctrlKey: false }, false],
])("the key %j is handled here: %s", (keys, expected) => {
  expect(press(keys).handled).toBe(expected);
});
