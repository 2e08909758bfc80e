import { signal } from "@preact/signals";
import { expect, test } from "vitest";
import type { Pane } from "../../../src/frame/pane";
import { Workspace } from "../../../src/frame/workspace";
import { dropPlace, takesText } from "../../../src/views/files/dropped";

/** An element with these data attributes; `closest` finds it by any of `matches`. */
function element(dataset: Record<string, string>, ...matches: string[]): Element {
  const own = { dataset, closest: (selector: string) => (matches.includes(selector) ? own : null) };
  return own as unknown as Element;
}

const WHOLE = element({});

function app(panes: Record<number, Partial<Pane>> = {}) {
  const workspace = new Workspace();
  workspace.panes.value = new Map(Object.entries(panes).map(([id, pane]) => [Number(id), pane as Pane]));
  return { workspace, directory: signal("/active") };
}

test("on the tree, files go into the folder under the pointer", async () => {
  const row = element({ folder: "src/deep" }, "[data-folder]");
  const place = dropPlace(app(), row, WHOLE);
  expect(await place.directory()).toBe("src/deep");
  expect(place.element).toBe(row);
});

test("on a pane, files go into its directory", async () => {
  const pane = { directory: async () => "/tmp" };
  const place = dropPlace(app({ 7: pane }), element({ pane: "7" }, "[data-pane]"), WHOLE);
  expect(await place.directory()).toBe("/tmp");
  expect(place.pane).toBe(pane);
});

test.each([
  ["a pane without a directory", element({ pane: "7" }, "[data-pane]")],
  ["a pane that is not loaded", element({ pane: "8" }, "[data-pane]")],
  ["anything else", element({})],
])("on %s, files go into the directory of the active terminal", async (_, target) => {
  expect(await dropPlace(app({ 7: {} }), target, WHOLE).directory()).toBe("/active");
});

test("text fields take text, but not the field of a terminal", () => {
  const field = "input, textarea:not(.xterm-helper-textarea), [contenteditable=true]";
  expect(takesText(element({}, field))).toBe(true);
  expect(takesText(element({}))).toBe(false);
});
