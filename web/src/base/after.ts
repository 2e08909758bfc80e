// A timer as a Disposable, also for times that `setTimeout` would take as zero.

import type { Disposable } from "./disposables";

/** Milliseconds: `setTimeout` fires at once after a longer time. */
const LONGEST = 2 ** 31 - 1;

/** Calls `action` after `milliseconds`, unless it is disposed before; never after Infinity. */
export function after(milliseconds: number, action: () => void): Disposable {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (left: number) => {
    timer = setTimeout(() => (left > LONGEST ? wait(left - LONGEST) : action()), Math.min(left, LONGEST));
  };
  if (milliseconds < Number.POSITIVE_INFINITY) wait(milliseconds);
  return { dispose: () => clearTimeout(timer) };
}
