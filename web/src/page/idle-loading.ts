// Runs after the first prompt: restores the rail, and loads modules that the user may need next.

import { batch, effect } from "@preact/signals";
import type { RailState } from "../frame/rail";

const KEY = "hawse.rail";
/** Minimum width in CSS pixels for the rail beside the panes; on narrower pages, the rail covers the panes. */
const WIDE = 701;
const remembered = new WeakSet<RailState>();

/** Called on each new connection. Rejects if a module cannot be loaded. */
export async function afterPrompt(rail: RailState): Promise<void> {
  rememberRail(rail, () => sessionStorage, innerWidth);
  for (const bar of document.querySelectorAll("header.strip, #status-line"))
    bar.addEventListener("mousedown", keepFocus); // adding the same function twice has no effect
  await loadNext();
}

/**
 * Restores the rail after a reload, and from then on stores its state.
 *
 * @param storage - The storage of the browser tab. Any call can throw, because the storage can be full or disabled.
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
 * Listens for `mousedown`: clicking an element that cannot be focused keeps the focus, so that further keys go to the
 * same pane.
 */
function keepFocus(event: Event): void {
  const { target } = event;
  if (target instanceof Element && !target.closest("a, button, input")) event.preventDefault();
}

/**
 * Loads one chunk after another. A request for a chunk cannot be cancelled, and browsers open at most six connections
 * to a host. If all six waited for chunks on a dead network, the page could not reconnect.
 */
async function loadNext(): Promise<void> {
  await import("./terminal/search-bar");
  await import("./page-dialogs");
  await import("./actions/action-lists");
  await import("./regions");
  await import("./question");
}
