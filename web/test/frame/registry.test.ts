import { Files } from "lucide";
import { expect, test } from "vitest";
import { Registry } from "../../src/frame/registry";

const kind = { kind: "log", load: () => Promise.reject(new Error("not loaded here")) };
const view = {
  id: "files",
  label: "Files",
  icon: Files,
  load: () => Promise.reject(new Error("not loaded here")),
};

test("a pane kind is found by its name", async () => {
  const registry = new Registry();
  registry.addPane(kind);
  expect(await registry.pane("log")).toBe(kind);
  expect(await registry.pane("editor")).toBeUndefined();
});

test("lazy modules are loaded once, when an unknown kind is requested", async () => {
  let loads = 0;
  const registry = new Registry(async () => {
    loads++;
    registry.addPane(kind);
  });
  registry.addPane({ ...kind, kind: "terminal" });
  await registry.pane("terminal");
  expect(loads).toBe(0);
  expect(await Promise.all([registry.pane("log"), registry.pane("log")])).toEqual([kind, kind]);
  await registry.load();
  expect(loads).toBe(1);
});

test("a failed load is tried again", async () => {
  const answers = [Promise.reject(new Error("offline")), Promise.resolve()];
  const registry = new Registry(() => answers.shift() as Promise<void>);
  await expect(registry.pane("log")).rejects.toThrow("offline");
  expect(await registry.pane("log")).toBeUndefined();
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
