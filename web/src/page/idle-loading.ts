// Runs after the first prompt: restores the rail and loads modules that the user may need next.

import { batch, effect } from "@preact/signals";
import type { RailState } from "../frame/rail";

const KEY = "hawse.rail";
/**
 * Minimum page width for showing the rail next to the panes, in CSS pixels; on narrower pages, the rail covers the
 * panes.
 */
const WIDE = 701;
const remembered = new WeakSet<RailState>();

/** Called on each new connection. Rejects if a module can't be loaded. */
export async function afterPrompt(rail: RailState): Promise<void> {
  rememberRail(rail, () => sessionStorage, innerWidth);
  for (const bar of document.querySelectorAll("header.strip, #status-line"))
    bar.addEventListener("mousedown", keepFocus); // adding a listener again on a later connection has no effect
  await loadNext();
}

/**
 * Restores the rail after a reload, and stores its state from then on.
 *
 * @param storage - The browser tab's storage. Any call to it can throw, because the storage may be full or disabled.
 */
export function rememberRail(rail: RailState, storage: () => Storage, width: number): void {
  if (remembered.has(rail)) return;
  remembered.add(rail);
  const { open, view } = rail;
  const stored = attempt(() => storage().getItem(KEY)) ?? undefined;
  if (stored !== undefined && !open.peek() && width >= WIDE)
    batch(() => {
      view.value = stored;
      open.value = true;
      rail.restored = true;
    });
  let changed = false;
  effect(() => {
    const shown = open.value ? view.value : undefined;
    if (changed) rail.restored = false;
    changed = true;
    attempt(() => (shown === undefined ? storage().removeItem(KEY) : storage().setItem(KEY, shown)));
  });
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/**
 * A `mousedown` listener: clicking an element that can't be focused leaves the focus where it is, so that keys still go
 * to the same pane.
 */
function keepFocus(event: Event): void {
  const { target } = event;
  if (target instanceof Element && !target.closest("a, button, input")) event.preventDefault();
}

/**
 * Loads the chunks one after another. A request for a chunk can't be cancelled, and browsers open at most six
 * connections to a host, so if all six were waiting for chunks on a dead network, the page couldn't reconnect.
 */
async function loadNext(): Promise<void> {
  await import("./terminal/search-bar");
  await import("./page-dialogs");
  await import("./actions/action-lists");
  await import("./regions");
  await import("../frame/question");
}
