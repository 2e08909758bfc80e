// Work after the first prompt: restores the rail, and loads modules that the user may need next.

import { batch, effect } from "@preact/signals";
import type { RailState } from "../frame/rail";

const KEY = "hawse.rail";
/** Smallest width in CSS pixels that has room for the rail beside the panes; on narrower pages it covers them. */
const WIDE = 701;
const remembered = new WeakSet<RailState>();

/** Each new connection calls it. Rejects if something cannot be loaded. */
export async function afterPrompt(rail: RailState): Promise<void> {
  rememberRail(rail, () => sessionStorage, innerWidth);
  for (const bar of document.querySelectorAll("header.strip, #status-line"))
    bar.addEventListener("mousedown", keepFocus); // which adds the same function once
  await loadNext();
}

/**
 * Opens the rail as it was before a reload, and from then on keeps in the storage what it shows.
 *
 * @param storage - That of the browser's tab. Any call may throw: it can be full or forbidden.
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

/** Listens for `mousedown`: a press on what takes no focus leaves it, so that what is typed next is for the same pane. */
function keepFocus(event: Event): void {
  const { target } = event;
  if (target instanceof Element && !target.closest("a, button, input")) event.preventDefault();
}

/**
 * One chunk after the other: a request for a chunk cannot be ended, and browsers open at most six connections to a host.
 * If all of them wait for chunks on a network that no longer answers, the page cannot reconnect.
 */
async function loadNext(): Promise<void> {
  await import("./terminal/search-bar");
  await import("./page-dialogs");
  await import("./actions/action-lists");
  await import("./regions");
  await import("./question");
}
