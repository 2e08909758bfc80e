// Replays a recording into one xterm.js, replays snapshots of it with the following output into others, and
// compares them.

import type { ITerminalInitOnlyOptions, ITerminalOptions, Terminal } from "@xterm/headless";
import type { Terminal as BrowserTerminal } from "@xterm/xterm";
import { useWidths } from "../../src/page/terminal/widths";
import { correctXterm } from "../../src/terminal/xterm-fixes";
import { compare, type Differences } from "./compare";
import { listen } from "./internals";

export type Make = new (options: ITerminalOptions & ITerminalInitOnlyOptions) => Terminal;

/** The output from offset `at` on is for this size. */
export interface Resize {
  at: number;
  cols: number;
  rows: number;
}

export interface Case {
  name: string;
  cols: number;
  rows: number;
  recording: Uint8Array;
  resizes: Resize[];
  /** In ascending order. `resized`: how many of `resizes` are before it. */
  cuts: { at: number; resized: number; snapshot: Uint8Array }[];
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

export async function replay(
  make: Make,
  { name, cols, rows, recording, resizes, cuts }: Case,
): Promise<Outcome> {
  const open = (resized: number) => {
    const size = resizes[resized - 1] ?? { cols, rows };
    const terminal = new make({ cols: size.cols, rows: size.rows, scrollback: 5000, allowProposedApi: true });
    useWidths(terminal as unknown as BrowserTerminal);
    correctXterm(terminal);
    return { terminal, eventState: listen(terminal), at: 0, resized };
  };
  type Opened = ReturnType<typeof open>;
  const advance = async (one: Opened, at: number, resized: number) => {
    for (; one.resized < resized; one.resized++) {
      const next = resizes[one.resized] as Resize;
      await write(one.terminal, recording.subarray(one.at, next.at));
      one.at = Math.max(one.at, next.at);
      one.terminal.resize(next.cols, next.rows);
    }
    await write(one.terminal, recording.subarray(one.at, at));
    one.at = at;
  };
  const straight = open(0);
  const resumed: Opened[] = [];
  const outcome: Outcome = { name, cuts: [] };
  for (const { at, resized, snapshot } of cuts) {
    await advance(straight, at, resized);
    const one = open(resized);
    await write(one.terminal, snapshot);
    one.at = at;
    const there = compare(one.terminal, straight.terminal, one.eventState, straight.eventState);
    outcome.cuts.push({ at, there: plain(there), end: {} });
    resumed.push(one);
  }
  await advance(straight, recording.length, resizes.length);
  for (const [i, one] of resumed.entries()) {
    await advance(one, recording.length, resizes.length);
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
