import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Emitter } from "../../../src/base/disposables";
import { Pointers } from "../../../src/page/people/pointers";

let measured = 0;

class FakeElement extends EventTarget {
  readonly children = new Set<FakeElement>();
  readonly style = { transform: "", setProperty: () => {} };
  parent: FakeElement | undefined;
  className = "";
  textContent = "";
  setAttribute(): void {}
  append(child: FakeElement): void {
    child.parent = this;
    this.children.add(child);
  }
  remove(): void {
    this.parent?.children.delete(this);
  }
  querySelector(): FakeElement {
    return this;
  }
  getBoundingClientRect() {
    measured++;
    return { left: 0, top: 0, width: 800, height: 240 };
  }
}

beforeEach(() => {
  measured = 0;
  vi.stubGlobal("document", { createElement: () => new FakeElement() });
});
afterEach(() => void vi.unstubAllGlobals());

function make(others: object[]) {
  const onRender = new Emitter<number>();
  const onResize = new Emitter<void>();
  const onChange = new Emitter<void>();
  const active = { viewportY: 0, baseY: 0 };
  const host = new FakeElement();
  const terminal = {
    cols: 80,
    rows: 24,
    buffer: { active },
    element: new FakeElement(),
    onRender: onRender.on,
    onResize: onResize.on,
  };
  const people = { others, onChange: onChange.on };
  const pointers = new Pointers(host as never, terminal as never, people as never, () => {});
  onChange.emit();
  const [layer] = host.children as unknown as [FakeElement];
  const scroll = (viewportY: number, baseY: number) => {
    Object.assign(active, { viewportY, baseY });
    onRender.emit(viewportY);
  };
  return { pointers, scroll, flags: () => [...layer.children].map(flag => flag.style.transform) };
}

const BOB = { id: "v2", name: "Bob", color: "#fff", at: { x: 1, y: 2 } };

test("a flag is at its cell, and is hidden while the page is scrolled back", () => {
  const { scroll, flags } = make([BOB]);
  expect(flags()).toEqual(["translate(15px, 25px)"]);
  scroll(3, 9);
  expect(flags()).toEqual([]);
  scroll(9, 9);
  expect(flags()).toEqual(["translate(15px, 25px)"]);
});

test.each([
  ["no other viewer is present", []],
  ["another viewer does not point", [{ ...BOB, at: null }]],
  ["another viewer points", [BOB]],
])("output measures no element while %s", (_, others) => {
  const { scroll } = make(others);
  measured = 0;
  for (let line = 1; line <= 1_000; line++) scroll(line, line);
  expect(measured).toBe(0);
});
