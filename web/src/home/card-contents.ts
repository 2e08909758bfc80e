// Selects what a sandbox's card shows: which terminal, which of its lines, and which people.

import type { Participant, TerminalInfo, TerminalViewer } from "../wire/methods";

/** Maximum number of lines and columns in a preview; more wouldn't be readable. */
export const PREVIEW_ROWS = 14;
const PREVIEW_COLUMNS = 160;
/** Maximum number of people shown on a card; any others are shown as a number. */
const FACES = 5;

/**
 * Returns the terminal that was used last: one that has printed output since the previous list, or else one that a
 * viewer is looking at, or else `main`, or else the one started last. `before` contains the offsets from the previous
 * list, keyed by instance.
 */
export function lastUsed(
  terminals: readonly TerminalInfo[],
  viewers: readonly TerminalViewer[],
  before: ReadonlyMap<string, number>,
): TerminalInfo | undefined {
  const running = terminals.filter(({ state }) => state === "running");
  const candidates = running.length ? running : terminals;
  const looked = new Set(viewers.filter(({ viewer }) => viewer.focus).map(({ terminal }) => terminal));
  const rank = ({ id, instance, offset }: TerminalInfo): number => {
    const known = before.get(instance);
    if (known !== undefined && offset > known) return 3;
    if (looked.has(id)) return 2;
    return id === "main" ? 1 : 0;
  };
  return [...candidates].sort((a, b) => rank(b) - rank(a) || b.started - a.started)[0];
}

/** Returns the last lines of a screen, without empty lines at the end. */
export function preview(screen: string): string {
  const lines = screen.split("\n");
  while (lines.length && !lines.at(-1)?.trim()) lines.pop();
  return lines
    .slice(-PREVIEW_ROWS)
    .map(line => line.slice(0, PREVIEW_COLUMNS))
    .join("\n");
}

/**
 * Returns each person and agent once, even if they are viewing several terminals, and the number of people not shown.
 */
export function faces(
  viewers: readonly TerminalViewer[],
  total: number,
): { shown: Participant[]; more: number } {
  const known = new Map<string, Participant>();
  for (const { viewer } of viewers) {
    const key = `${viewer.kind} ${viewer.name}`;
    if (!known.has(key)) known.set(key, viewer);
  }
  const all = [...known.values()];
  const unlisted = Math.max(0, total - viewers.length);
  return { shown: all.slice(0, FACES), more: Math.max(0, all.length - FACES) + unlisted };
}
