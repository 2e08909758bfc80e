// Timers as Disposables. Unlike `setTimeout`, they support delays above 2^31 − 1 ms and Infinity.

import type { Disposable } from "./disposables";

/** Maximum delay for `setTimeout`, in milliseconds; timers with a longer delay fire immediately. */
const LONGEST = 2 ** 31 - 1;

/** Calls `action` after `milliseconds` unless disposed before then; never calls it if `milliseconds` is Infinity. */
export function after(milliseconds: number, action: () => void): Disposable {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (left: number) => {
    timer = setTimeout(() => (left > LONGEST ? wait(left - LONGEST) : action()), Math.min(left, LONGEST));
  };
  if (milliseconds < Number.POSITIVE_INFINITY) wait(milliseconds);
  return { dispose: () => clearTimeout(timer) };
}
