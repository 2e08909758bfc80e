// Moves the keyboard focus between regions of the page: the tab strip, the rail, each pane and the status line.

/** Selectors for the regions, in page order. */
const REGIONS = "[data-region], .pane";
const FOCUSABLE = "textarea, button:not(:disabled), a[href], input, select, [tabindex='0']";

/** Returns the region after (1) or before (-1) the current one, wrapping around. */
export function nextRegion<T>(regions: readonly T[], current: T | undefined, by: 1 | -1): T | undefined {
  const at = current === undefined ? -1 : regions.indexOf(current);
  if (at < 0) return by > 0 ? regions[0] : regions.at(-1);
  return regions[(at + by + regions.length) % regions.length];
}

export function walkRegions(by: 1 | -1): void {
  if (document.querySelector("dialog[open]")) return; // the focus stays in an open dialog
  const regions = [...document.querySelectorAll<HTMLElement>(REGIONS)].filter(
    region => !region.closest("[hidden], [inert]") && first(region),
  );
  const current = regions.find(region => region.contains(document.activeElement));
  const next = nextRegion(regions, current, by);
  if (next) first(next)?.focus();
}

function first(region: HTMLElement): HTMLElement | undefined {
  const candidates = region.matches(".pane")
    ? region.querySelectorAll<HTMLElement>(`.pane-body :is(${FOCUSABLE})`)
    : region.querySelectorAll<HTMLElement>(FOCUSABLE);
  return [...candidates].find(
    element => element.offsetParent !== null || element.matches(".xterm-helper-textarea"),
  );
}
