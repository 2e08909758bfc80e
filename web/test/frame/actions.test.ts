import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Actions, keysForPeople, labelOf } from "../../src/frame/actions";

class Key extends Event {
  readonly key: string;
  readonly code: string;
  readonly #modifiers: readonly string[];

  constructor(key: string, modifiers: readonly string[]) {
    super("keydown", { cancelable: true });
    this.key = key;
    this.code = `Key${key}`;
    this.#modifiers = modifiers;
  }

  getModifierState(name: string): boolean {
    return this.#modifiers.includes(name);
  }
}

beforeEach(() => void vi.stubGlobal("KeyboardEvent", Key));
afterEach(() => void vi.unstubAllGlobals());

function make(mac = false) {
  const ran: string[] = [];
  const actions = new Actions(mac);
  const target = new EventTarget();
  actions.listen(target);
  const add = (id: string, more: object = {}) =>
    actions.add({ id, label: id, group: "Test", run: () => ran.push(id), ...more });
  return { actions, target, ran, add };
}

test("a shortcut runs its action and reaches nothing else", () => {
  const { target, ran, add } = make();
  add("find", { keys: { mac: "Meta+F", other: "Control+Shift+F" } });
  const event = new Key("F", ["Control", "Shift"]);
  target.dispatchEvent(event);
  target.dispatchEvent(new Key("F", ["Control"]));
  expect([ran, event.defaultPrevented]).toEqual([["find"], true]);
});

test("an action that is not possible has no shortcut: the key goes to the program", () => {
  const { actions, target, ran, add } = make();
  add("find", { keys: { mac: "Meta+F", other: "Control+Shift+F" }, available: () => false });
  const event = new Key("F", ["Control", "Shift"]);
  target.dispatchEvent(event);
  actions.run("find");
  expect([ran, event.defaultPrevented, actions.available]).toEqual([[], false, []]);
});

test("ids and shortcuts are unique", () => {
  const { add } = make();
  add("a", { keys: { mac: "Meta+A", other: "Control+Shift+A" } });
  expect(() => add("a")).toThrow("has the same id or keys as a");
  expect(() => add("b", { keys: { mac: "Meta+B", other: "Control+Shift+a" } })).toThrow("as a");
});

test("shortcuts are written as people on each system write them", () => {
  expect(keysForPeople("Control+Shift+ArrowUp", false)).toBe("Ctrl+Shift+↑");
  expect(keysForPeople("Meta+Shift+k", true)).toBe("⌘⇧K");
  const { actions, add } = make(true);
  add("find", { keys: { mac: "Meta+F", other: "Control+Shift+F" } });
  expect(actions.shortcut("find")).toBe("⌘F");
  expect(actions.shortcut("nothing")).toBeUndefined();
});

test("a label may depend on the state", () => {
  expect(labelOf({ id: "x", group: "", label: () => "Stop", run: () => {} })).toBe("Stop");
});

test("keys that a program may want reach it, and further keys always run the action", () => {
  const { target, ran, add } = make();
  let free = false;
  add("walk", { keys: { mac: "F6", other: "F6" }, keysFree: () => free, also: "Control+F6" });
  const wanted = new Key("F6", []);
  target.dispatchEvent(wanted);
  expect([ran, wanted.defaultPrevented]).toEqual([[], false]);
  target.dispatchEvent(new Key("F6", ["Control"]));
  free = true;
  target.dispatchEvent(new Key("F6", []));
  expect(ran).toEqual(["walk", "walk"]);
});
