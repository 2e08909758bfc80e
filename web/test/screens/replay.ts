// Replays a recording into one xterm.js, replays snapshots of it with the following output into others, and
// compares them.

import type { ITerminalInitOnlyOptions, ITerminalOptions, Terminal } from "@xterm/headless";
import type { Terminal as BrowserTerminal } from "@xterm/xterm";
import { useWidths } from "../../src/page/widths";
import { correctXterm } from "../../src/terminal/xterm-fixes";
import { compare, type Differences } from "./compare";
import { listen } from "./internals";

export type Make = new (options: ITerminalOptions & ITerminalInitOnlyOptions) => Terminal;

export interface Case {
  name: string;
  cols: number;
  rows: number;
  recording: Uint8Array;
  /** In ascending order. */
  cuts: { at: number; snapshot: Uint8Array }[];
}

export interface Outcome {
  name: string;
  /** The differences at each cut and at the end of the recording: kind → count and an example. */
  cuts: {
    at: number;
    there: Record<string, { count: number; example: string }>;
    end: Record<string, { count: number; example: string }>;
  }[];
}

export async function replay(make: Make, { name, cols, rows, recording, cuts }: Case): Promise<Outcome> {
  const open = () => {
    const terminal = new make({ cols, rows, scrollback: 5000, allowProposedApi: true });
    useWidths(terminal as unknown as BrowserTerminal);
    correctXterm(terminal);
    return { terminal, eventState: listen(terminal) };
  };
  const straight = open();
  const resumed: { terminal: Terminal; eventState: ReturnType<typeof listen>; at: number }[] = [];
  const outcome: Outcome = { name, cuts: [] };
  let fed = 0;
  for (const { at, snapshot } of cuts) {
    await write(straight.terminal, recording.subarray(fed, at));
    fed = at;
    const one = { ...open(), at };
    await write(one.terminal, snapshot);
    const there = compare(one.terminal, straight.terminal, one.eventState, straight.eventState);
    outcome.cuts.push({ at, there: plain(there), end: {} });
    resumed.push(one);
  }
  await write(straight.terminal, recording.subarray(fed));
  for (const [i, one] of resumed.entries()) {
    await write(one.terminal, recording.subarray(one.at));
    const end = compare(one.terminal, straight.terminal, one.eventState, straight.eventState);
    (outcome.cuts[i] as Outcome["cuts"][number]).end = plain(end);
    one.terminal.dispose();
  }
  straight.terminal.dispose();
  return outcome;
}

function write(terminal: Terminal, data: Uint8Array): Promise<void> {
  return new Promise(resolve => terminal.write(data, resolve));
}

function plain(found: Differences): Record<string, { count: number; example: string }> {
  return Object.fromEntries(found);
}
