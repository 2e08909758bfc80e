// `window.hawse`: a stable interface for end-to-end tests and for use in the browser console.

import type { Terminal } from "@xterm/xterm";
import type { GatewayClient } from "../client/client";
import type { ConnectionState } from "../connection/reconnecting";
import type { TerminalChannel, TerminalState } from "../terminal/terminal-channel";

export interface PageState {
  connection: ConnectionState["phase"];
  terminal: TerminalState["phase"];
  /** Median round-trip time in milliseconds. */
  rtt: number | undefined;
  /** Offset after the last output byte passed to xterm. */
  offset: number;
  /**
   * Number of input bytes that the server has confirmed as applied, and number of bytes typed. The two are equal once
   * all input has arrived.
   */
  inputOffset: number;
  inputEnd: number;
  instance: string | undefined;
  pid: number | undefined;
  cols: number;
  rows: number;
  /** Names of all viewers, starting with this page's viewer. */
  people: string[];
}

export interface TestHandle {
  readonly terminal: Terminal;
  readonly client: GatewayClient;
  readonly channel: TerminalChannel;
  state(): PageState;
}

declare global {
  interface Window {
    hawse?: TestHandle;
  }
}

export function exposeTestHandle(terminal: Terminal, client: GatewayClient, channel: TerminalChannel): void {
  window.hawse = {
    terminal,
    client,
    channel,
    state: () => ({
      connection: client.state.phase,
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
