// What the page does after the first prompt: it opens the rail again, and loads what the user may ask for next.

import { batch, effect } from "@preact/signals";
import type { RailState } from "../frame/rail";

const KEY = "hawse.rail";
/** Width in CSS pixels from which the rail is beside the panes; below it, it would cover them. */
const WIDE = 700;
const remembered = new WeakSet<RailState>();

/**
 * Opens the rail as it was before a reload, and from then on keeps in the storage what it shows.
 *
 * @param storage - That of the browser's tab. Any call may throw: it can be full or forbidden.
 */
export function rememberRail(rail: RailState, storage: () => Storage, width: number): void {
  if (remembered.has(rail)) return; // each new connection calls it
  remembered.add(rail);
  const { open, view } = rail;
  const stored = attempt(() => storage().getItem(KEY)) ?? undefined;
  if (stored !== undefined && !open.peek() && width >= WIDE)
    batch(() => {
      view.value = stored;
      open.value = true;
    });
  effect(() => {
    const shown = open.value ? view.value : undefined;
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
 * One chunk after the other: a request for a chunk cannot be ended, and browsers open at most six connections to a host.
 * If all of them wait for chunks on a network that no longer answers, the page cannot reconnect.
 */
export async function loadNext(): Promise<void> {
  await import("./search-bar");
  await import("./page-dialogs");
  await import("./action-lists");
  await import("./regions");
  await import("./question");
}
