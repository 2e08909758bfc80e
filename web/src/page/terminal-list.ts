// The terminals of the sandbox: their names, which of them run, and what a close would lose.

import type { CommandInfo, TerminalHistoryResult, TerminalInfo } from "../wire/methods";

/**
 * Returns the names of the terminals: the title that a program has set, or the id where there is none or another terminal
 * has the same.
 */
export function labelsOf(terminals: readonly Pick<TerminalInfo, "id" | "title">[]): Map<string, string> {
  const titles = new Map<string, number>();
  for (const { title } of terminals) if (title) titles.set(title, (titles.get(title) ?? 0) + 1);
  return new Map(terminals.map(({ id, title }) => [id, title && titles.get(title) === 1 ? title : id]));
}

/** Returns the ids of the terminals that run, the oldest first. */
export function runningIds(terminals: readonly Pick<TerminalInfo, "id" | "state" | "started">[]): string[] {
  return terminals
    .filter(({ state }) => state === "running")
    .sort((a, b) => a.started - b.started || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);
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
