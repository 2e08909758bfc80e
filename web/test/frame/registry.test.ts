import { Files } from "lucide";
import { expect, test } from "vitest";
import { Registry } from "../../src/frame/registry";

const kind = { kind: "log", icon: Files, load: () => Promise.reject(new Error("not loaded here")) };
const view = {
  id: "files",
  label: "Files",
  icon: Files,
  load: () => Promise.reject(new Error("not loaded here")),
};

test("a pane kind is found by its name", () => {
  const registry = new Registry();
  registry.addPane(kind);
  expect(registry.pane("log")).toBe(kind);
  expect(registry.pane("editor")).toBeUndefined();
});

test("the rail has the registered views in order", () => {
  const registry = new Registry();
  registry.addRail(view);
  registry.addRail({ ...view, id: "ports" });
  expect(registry.rail.value.map(({ id }) => id)).toEqual(["files", "ports"]);
});

test("a name cannot be registered twice", () => {
  const registry = new Registry();
  registry.addPane(kind);
  registry.addRail(view);
  expect(() => registry.addPane(kind)).toThrow("registered twice");
  expect(() => registry.addRail(view)).toThrow("registered twice");
});
