// The sandbox's terminals: their names, whether they're running, and what would be lost by closing them.

import { visible } from "../../base/visible";
import type { CommandInfo, TerminalHistoryResult, TerminalInfo, TerminalWaiting } from "../../wire/methods";

type Titled = Pick<TerminalInfo, "id" | "title">;

/** Returns terminal names, keyed by terminal id; see `labelOf`. */
export function labelsOf(terminals: readonly Titled[]): Map<string, string> {
  return new Map(terminals.map(({ id, title }) => [id, labelOf(id, title, terminals)]));
}

/**
 * Returns a terminal's name: the title set by a program, or the id if there is no title or the title looks like the id
 * or title of another terminal, which the user could mistake for this one. `terminals` can include this terminal.
 */
export function labelOf(id: string, title: string | null | undefined, terminals: readonly Titled[]): string {
  const shown = visible(title ?? "").trim();
  const look = lookOf(shown);
  if (!look) return id;
  const taken = terminals.some(
    other => other.id !== id && (lookOf(other.id) === look || lookOf(other.title ?? "") === look),
  );
  return taken ? id : shown;
}

/**
 * Normalizes a text for comparison so that texts that look alike are equal: ignores invisible characters, character
 * width, case and spaces.
 */
function lookOf(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/[\p{Cc}\p{Cf}\s\ufffd]/gu, "")
    .toLowerCase();
}

/** Returns the ids of the running terminals, oldest first. */
export function runningIds(terminals: readonly Pick<TerminalInfo, "id" | "state" | "started">[]): string[] {
  return terminals
    .filter(({ state }) => state === "running")
    .sort((a, b) => a.started - b.started || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);
}

/** Returns whether a program is asking for a line or a password. Pagers and editors wait for keys all the time. */
export function asks(waiting: TerminalWaiting | undefined): boolean {
  return waiting?.kind === "line" || waiting?.kind === "secret";
}

/** A terminal whose program is asking for a line or a password. */
export type Question = Pick<TerminalInfo, "id" | "instance" | "title" | "waiting">;

/** Returns the terminals whose programs are asking a question, longest wait first. */
export function questionsOf<T extends Question>(terminals: readonly T[]): T[] {
  const since = ({ waiting }: T) => waiting?.since ?? 0;
  return terminals.filter(({ waiting }) => asks(waiting)).sort((a, b) => since(a) - since(b));
}

/** Returns the first unused name of the form `shell-N`, starting at 2. */
export function freeId(taken: ReadonlySet<string>): string {
  let number = 2;
  while (taken.has(`shell-${number}`)) number++;
  return `shell-${number}`;
}

/**
 * Returns what would be lost if the terminal were closed; undefined if its shell is waiting for a command.
 *
 * A shell that doesn't report its commands may be running a command.
 */
export function lossOf({ commands, reports_commands }: TerminalHistoryResult): string | undefined {
  if (!reports_commands) return "A program may be running in it.";
  const last: CommandInfo | undefined = commands.at(-1);
  if (!last || last.end != null) return undefined;
  return last.line ? `This command is running in it: ${last.line}` : "A command is running in it.";
}
