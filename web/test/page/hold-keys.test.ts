import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { holdKeys } from "../../src/page/hold-keys";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Presses a key; returns whether it reaches the page. */
function press(target: EventTarget, key: string, more: object = {}): boolean {
  const event = Object.assign(new Event("keydown", { cancelable: true }), { key, ...more });
  let reached = false;
  const other = () => {
    reached = true;
  };
  target.addEventListener("keydown", other);
  target.dispatchEvent(event);
  target.removeEventListener("keydown", other);
  return reached;
}

const target = () => new EventTarget() as unknown as Window;

test("typed text is held until it is taken", () => {
  const window = target();
  const typed = holdKeys(window);
  for (const key of ["s", "p", "x", "Backspace", "l", "Enter", "Shift"])
    expect(press(window, key)).toBe(false);
  expect(press(window, "k", { ctrlKey: true })).toBe(true);
  expect(typed()).toBe("spl");
  expect(press(window, "a")).toBe(true);
});

test("Escape, and the time, end it", () => {
  const window = target();
  const given = holdKeys(window);
  press(window, "s");
  expect(press(window, "Escape")).toBe(false);
  expect(press(window, "a")).toBe(true);
  expect(given()).toBeUndefined();
  const late = holdKeys(window);
  press(window, "s");
  vi.advanceTimersByTime(5_000);
  expect(press(window, "a")).toBe(true);
  expect(late()).toBe("s");
});
