// A client, a fake gateway and a fake emulator, connected.

import { vi } from "vitest";
import { type ClientOptions, PATIENT } from "../../src/client/client";
import { HawseClient } from "../../src/client/hawse-client";
import type { TerminalSink } from "../../src/terminal/sink";
import { TerminalChannel } from "../../src/terminal/terminal-channel";
import { FakeGateway } from "./fake-gateway";

/** Records its calls in order; parses only when `parse` is called. */
export class FakeSink implements TerminalSink {
  readonly log: string[] = [];
  bytes: number[] = [];
  gateOpen = false;
  #unparsed: (() => void)[] = [];

  write(bytes: Uint8Array, parsed: () => void): void {
    this.bytes.push(...bytes);
    this.#unparsed.push(parsed);
  }

  resize(cols: number, rows: number): void {
    this.log.push(`resize ${cols}x${rows} at ${this.bytes.length}`);
  }

  reset(cols: number, rows: number): void {
    this.bytes = [];
    this.log.push(`reset ${cols}x${rows}`);
  }

  startNewScreen(cols: number, rows: number): void {
    this.bytes = [];
    this.log.push(`new screen ${cols}x${rows}`);
  }

  gate(open: boolean): void {
    this.gateOpen = open;
    this.log.push(open ? "gate open" : "gate closed");
  }

  parse(count = Number.POSITIVE_INFINITY): void {
    while (count-- > 0) {
      const parsed = this.#unparsed.shift();
      if (!parsed) return;
      parsed();
    }
  }
}

export interface Harness {
  gateway: FakeGateway;
  client: HawseClient;
  sink: FakeSink;
  channel: TerminalChannel;
  /** Runs the network, the emulator and the due timers until nothing is left to do. */
  runUntilIdle(milliseconds?: number): Promise<void>;
}

/** Milliseconds of the test's clock between two rounds of the network. */
const TICK = 50;

/** Needs fake timers. The client is that of a page, if `options` have no other times. */
export function makeHarness(options: ClientOptions = {}): Harness {
  const gateway = new FakeGateway();
  const client = new HawseClient({
    base: "http://gateway.test/",
    token: "secret",
    openSocket: gateway.openSocket,
    ticket: async () => "ticket",
    ...PATIENT,
    ...options,
  });
  const sink = new FakeSink();
  const channel = new TerminalChannel(client, { sandbox: "local", id: "main" }, sink);
  return {
    gateway,
    client,
    sink,
    channel,
    runUntilIdle: async (milliseconds = 0) => {
      for (let passed = -3 * TICK; passed < milliseconds; passed += TICK) {
        if (gateway.sockets.length > 0) gateway.deliverAll();
        sink.parse();
        await vi.advanceTimersByTimeAsync(passed < 0 ? 0 : TICK);
      }
    },
  };
}
