// The terminals of the sandbox that the tabs show: which, in what order, with what names.

import type { CommandInfo, TerminalHistoryResult, TerminalInfo } from "../wire/methods";

export interface Tab {
  id: string;
  label: string;
  /** Details for the tooltip: the id and the directory. */
  details: string;
  running: boolean;
  current: boolean;
}

type Listed = Pick<TerminalInfo, "id" | "title" | "cwd" | "state" | "started">;

/**
 * Returns the tabs, the oldest terminal first: all that run, and the one that the page shows (`current`).
 *
 * A tab is named by the title that its program has set, or by its id where there is none or another tab has the same.
 */
export function tabsOf(terminals: readonly Listed[], current: string): Tab[] {
  const shown = terminals.filter(({ id, state }) => state === "running" || id === current);
  const titles = new Map<string, number>();
  for (const { title } of shown) if (title) titles.set(title, (titles.get(title) ?? 0) + 1);
  return [...shown]
    .sort((a, b) => a.started - b.started || (a.id < b.id ? -1 : 1))
    .map(({ id, title, cwd, state }) => ({
      id,
      label: title && titles.get(title) === 1 ? title : id,
      details: `${id} in ${cwd}`,
      running: state === "running",
      current: id === current,
    }));
}

/** Returns the id of the tab to show after `closed`: the next one, otherwise the one before; undefined: none is left. */
export function neighbour(tabs: readonly Tab[], closed: string): string | undefined {
  const index = tabs.findIndex(({ id }) => id === closed);
  return (tabs[index + 1] ?? tabs[index - 1])?.id;
}

/** Returns the first `shell-N`, from 2 on, that no terminal has. */
export function freeId(taken: ReadonlySet<string>): string {
  let number = 2;
  while (taken.has(`shell-${number}`)) number++;
  return `shell-${number}`;
}

/**
 * Returns what would be lost if the terminal were closed; undefined if its shell waits for a command.
 *
 * A shell that does not report its commands may run one.
 */
export function lossOf({ commands, reports_commands }: TerminalHistoryResult): string | undefined {
  if (!reports_commands) return "A program may be running in it.";
  const last: CommandInfo | undefined = commands.at(-1);
  if (!last || last.end != null) return undefined;
  return last.line ? `This command is running in it: ${last.line}` : "A command is running in it.";
}
