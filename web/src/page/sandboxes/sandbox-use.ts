// Determines what would be lost if a sandbox were stopped: its viewers and its running programs.

import type { SandboxHandle } from "../../client/sandbox";
import type { CommandInfo } from "../../wire/methods";

/** Timeout for a call, in seconds. */
const TIMEOUT = 5;
/** Maximum number of terminals whose commands are requested. */
const TERMINALS = 20;
/** Maximum number of characters to show of each command, and maximum number of names to show of each kind. */
const COMMAND = 40;
const NAMES = 3;

export interface Use {
  readonly people: readonly string[];
  /** Command lines; empty for a command line that isn't known. */
  readonly commands: readonly string[];
}

/**
 * Returns the people who are using a running sandbox, and the commands running in it. `mine` is the number of this
 * page's own viewers, which aren't included. Throws HawseError.
 */
export async function useOf(box: SandboxHandle, mine: number): Promise<Use> {
  const limit = { timeout: TIMEOUT };
  const [{ terminals }, { viewers }, { processes }] = await Promise.all([
    box.terminal.list({}, limit),
    box.terminal.viewers({}, limit),
    box.process.list({}, limit),
  ]);
  const running = terminals.filter(({ state }) => state === "running").slice(0, TERMINALS);
  const histories = await Promise.all(running.map(({ id }) => box.terminal.history({ id, limit: 1 }, limit)));
  const last = histories.flatMap(({ commands }): CommandInfo[] => commands.slice(-1));
  // A shell that doesn't report its commands may be running a command, unless it is waiting for the next one.
  const silent = running.filter(({ waiting }, i) => !histories[i]?.reports_commands && !waiting?.idle_shell);
  return {
    people: viewers.slice(mine).map(({ viewer }) => viewer.name),
    commands: [
      ...last.filter(({ end }) => end == null).map(({ line }) => line ?? ""),
      ...silent.map(({ waiting, title }) => waiting?.command || title || ""),
      ...processes.filter(({ state }) => state === "running").map(({ argv }) => argv?.join(" ") ?? ""),
    ],
  };
}

/** Returns a sentence describing the use; empty if the sandbox isn't in use. */
export function describeUse({ people, commands }: Use): string {
  const who = [...new Set(people)];
  const parts = [
    commands.length ? `${list(commands.map(short))} ${commands.length === 1 ? "runs" : "run"} in it` : "",
    who.length ? `${list(who)} ${who.length === 1 ? "is" : "are"} connected` : "",
  ].filter(Boolean);
  return parts.length ? `${parts.join(", and ")}.` : "";
}

function short(command: string): string {
  const line = command.split("\n")[0] ?? "";
  if (!line) return "a command";
  return line.length > COMMAND ? `${line.slice(0, COMMAND - 1)}…` : line;
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, NAMES);
  if (names.length > NAMES) return `${shown.join(", ")} and ${names.length - NAMES} more`;
  return shown.length === 1 ? (shown[0] ?? "") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}
