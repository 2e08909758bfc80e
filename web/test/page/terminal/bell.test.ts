import { afterEach, expect, test, vi } from "vitest";
import { Emitter } from "../../../src/base/disposables";
import { showBell } from "../../../src/page/terminal/bell";

afterEach(() => void vi.unstubAllGlobals());

test("a bell marks the stage, and the title only while the tab is in the background", () => {
  const page = Object.assign(new EventTarget(), { hidden: false });
  vi.stubGlobal("document", page);
  const classes = new Set<string>();
  const classList = {
    add: (name: string) => classes.add(name),
    remove: (name: string) => classes.delete(name),
  };
  const stage = Object.assign(new EventTarget(), { classList });
  const bell = new Emitter<void>();
  const unseen: boolean[] = [];
  const subscription = showBell({ onBell: bell.on } as never, stage as never, state => unseen.push(state));
  bell.emit();
  expect([[...classes], unseen]).toEqual([["bell"], []]);
  stage.dispatchEvent(new Event("animationend"));
  page.hidden = true;
  bell.emit();
  page.hidden = false;
  page.dispatchEvent(new Event("visibilitychange"));
  expect(unseen).toEqual([true, false]);
  subscription.dispose();
  classes.clear();
  bell.emit();
  expect(classes.size).toBe(0);
});
