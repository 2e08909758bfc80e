import { signal } from "@preact/signals";
import { Files } from "lucide";
import { expect, test } from "vitest";
import type { AppContext } from "../../src/frame/pane";
import { Rail } from "../../src/frame/rail";
import { Registry } from "../../src/frame/registry";

const view = {
  id: "files",
  label: "Files",
  icon: Files,
  load: () => Promise.reject(new Error("not loaded here")),
};
const app = {} as AppContext;

test("the rail is not there until it is asked for, nor without a view", () => {
  const registry = new Registry();
  const state = { open: signal(true), view: signal("") };
  expect(Rail({ registry, state, app })).toBeNull();
  registry.addRail(view);
  expect(Rail({ registry, state, app })).not.toBeNull();
  state.open.value = false;
  expect(Rail({ registry, state, app })).toBeNull();
});
