// `window.hawse`: a stable handle for end-to-end tests and for the curious at the console.

import type { Terminal } from "@xterm/xterm";
import type { HawseClient } from "../client/client";
import type { LineState } from "../connection/reconnecting";
import type { TerminalChannel, TerminalState } from "../terminal/terminal-channel";

export interface PageState {
  line: LineState["phase"];
  terminal: TerminalState["phase"];
  /** Milliseconds, the median of the latest pings. */
  rtt: number | undefined;
  /** Offset behind the last byte of output handed to xterm. */
  offset: number;
  /** Input that the server has applied, and all that was typed: equal when everything has arrived. */
  inputOffset: number;
  inputEnd: number;
  instance: string | undefined;
  pid: number | undefined;
  cols: number;
  rows: number;
  /** Names of all who are here, ours first. */
  people: string[];
}

export interface PageHandle {
  readonly terminal: Terminal;
  readonly client: HawseClient;
  readonly channel: TerminalChannel;
  state(): PageState;
}

declare global {
  interface Window {
    hawse?: PageHandle;
  }
}

export function exposeHandle(terminal: Terminal, client: HawseClient, channel: TerminalChannel): void {
  window.hawse = {
    terminal,
    client,
    channel,
    state: () => ({
      line: client.state.phase,
      terminal: channel.state.phase,
      rtt: client.roundTrip,
      offset: channel.offset,
      inputOffset: channel.input.applied,
      inputEnd: channel.input.end,
      instance: channel.info?.instance,
      pid: channel.info?.pid,
      cols: terminal.cols,
      rows: terminal.rows,
      people: [channel.people.me, ...channel.people.others].flatMap(viewer => viewer?.name ?? []),
    }),
  };
}
