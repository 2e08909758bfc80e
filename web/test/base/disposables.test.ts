import { expect, test } from "vitest";
import { DisposableList, Emitter } from "../../src/base/disposables";

test("a list disposes of its members once, in reverse order", () => {
  const list = new DisposableList();
  const order: string[] = [];
  list.add({ dispose: () => order.push("first") });
  list.defer(() => order.push("second"));
  list.dispose();
  list.dispose();
  expect(order).toEqual(["second", "first"]);
});

test("a DOM listener is removed with its list", () => {
  const list = new DisposableList();
  const target = new EventTarget();
  let calls = 0;
  list.listen(target, "click", () => calls++);
  target.dispatchEvent(new Event("click"));
  list.dispose();
  target.dispatchEvent(new Event("click"));
  expect(calls).toBe(1);
});

test("an emitter calls its listeners until they are disposed, also when that happens during a call", () => {
  const emitter = new Emitter<number>();
  const received: string[] = [];
  const first = emitter.on(value => {
    received.push(`a${value}`);
    first.dispose();
  });
  emitter.on(value => received.push(`b${value}`));
  emitter.emit(1);
  emitter.emit(2);
  expect(received).toEqual(["a1", "b1", "b2"]);
});
