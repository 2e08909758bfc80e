// Plays one session of tests/vectors/sessions.json on a Connection: the client's steps as method calls, the
// server's steps as received messages.

import { expect } from "vitest";
import { Connection } from "../../src/wire/connection";
import { MisuseError, ProtocolViolation } from "../../src/wire/errors";
import { encodeFrame } from "../../src/wire/frames";
import type { ClientMessage, Kind } from "../../src/wire/protocol";

interface Step {
  from: "client" | "server";
  text?: string;
  frame?: { kind: Kind; ch: number; offset: string; length: number };
  ignored?: boolean;
  answer?: Record<string, unknown>;
  late?: boolean;
  error?: { code: string };
}

export interface Session {
  name: string;
  welcomed?: boolean;
  window?: number;
  limits?: Record<string, number>;
  steps: Step[];
  after?: Record<string, { state: string; client_window?: number; server_window?: number }>;
}

const WELCOME = { type: "welcome", protocol: 1, server: "s", identity: "i", role: "r", abilities: [] };

export function drive(session: Session): void {
  new Driver(session).run();
}

class Driver {
  readonly #session: Session;
  readonly #connection: Connection;
  /** The vector's channel numbers → the connection's, which are consecutive. */
  readonly #channels = new Map<number, number>();

  constructor(session: Session) {
    this.#session = session;
    const hello = session.steps.find(step => step.text?.includes('"hello"'));
    const window = session.window ?? (hello?.text ? JSON.parse(hello.text).window : 0);
    this.#connection = new Connection({ client: "test", window });
    if (session.welcomed === false) return;
    this.#connection.receive(JSON.stringify({ ...WELCOME, limits: session.limits ?? {} }));
    this.#connection.dataToSend();
  }

  run(): void {
    for (const step of this.#session.steps) {
      if (step.from === "server") this.#server(step);
      else if (!step.late) this.#client(step);
    }
    for (const [ch, expected] of Object.entries(this.#session.after ?? {})) {
      const ledger = this.#connection.ledger(this.#channelOf(Number(ch)));
      expect(ledger?.state ?? "closed").toBe(expected.state);
      if (expected.client_window !== undefined) expect(ledger?.outgoing).toBe(expected.client_window);
      if (expected.server_window !== undefined) expect(ledger?.incoming).toBe(expected.server_window);
    }
  }

  #server({ text, frame, error, answer }: Step): void {
    const receive = () => this.#connection.receive(this.#arriving(text, frame));
    if (error) {
      expect(receive).toThrow(expect.objectContaining({ code: error.code, constructor: ProtocolViolation }));
      return;
    }
    receive();
    const sent = this.#connection.dataToSend().map(message => JSON.parse(String(message)));
    expect(sent).toEqual(answer ? [expect.objectContaining(answer)] : []);
  }

  #client(step: Step): void {
    if (step.error) {
      expect(this.#rejects(step)).toBe(true);
      return;
    }
    this.#send(step);
    expect(this.#connection.dataToSend()).toHaveLength(1);
    if (step.answer?.type !== "error") return;
    this.#connection.receive(
      JSON.stringify({ message: "", ...step.answer, ch: this.#channelOf(Number(step.answer.ch)) }),
    );
  }

  /** Whether the connection cannot send, or refuses to send, a forbidden message. */
  #rejects(step: Step): boolean {
    const message: Partial<ClientMessage> = step.text ? JSON.parse(step.text) : {};
    // Connection sends hello itself, once, and chooses increasing channel numbers.
    if (message.type === "hello" || (message.type === "call" && this.#connection.welcome)) return true;
    if (step.frame && step.frame.kind !== 0) return true;
    if (this.#session.welcomed === false && message.type === "ping") return true;
    this.#connection.dataToSend();
    try {
      this.#send(step);
    } catch (problem) {
      expect(problem).toBeInstanceOf(MisuseError);
    }
    return this.#connection.dataToSend().length === 0;
  }

  #send({ text, frame }: Step): void {
    if (frame) {
      this.#connection.input(this.#channelOf(frame.ch), Number(frame.offset), new Uint8Array(frame.length));
      return;
    }
    const message: ClientMessage = JSON.parse(text ?? "");
    switch (message.type) {
      case "hello":
        break;
      case "call":
        this.#channels.set(message.ch, this.#connection.call(message.method));
        break;
      case "credit":
        this.#connection.grant(this.#channelOf(message.ch), message.bytes);
        break;
      case "end":
      case "cancel":
        this.#connection[message.type](this.#channelOf(message.ch));
        break;
      case "ping":
        this.#connection.ping(message.t);
        break;
      case "pong":
        throw new Error("a client sends pong only as an answer to ping");
    }
    // The server answers a client's ping; this driver does not.
  }

  #arriving(text: string | undefined, frame: Step["frame"]): string | Uint8Array {
    if (frame) {
      const payload = new Uint8Array(frame.length);
      const { kind, offset } = frame;
      return encodeFrame({ kind, ch: this.#channelOf(frame.ch), offset: Number(offset), payload });
    }
    // Only the number changes; every other character is kept.
    return (text ?? "").replace(/"ch":\s*(\d+)/, (_, ch) => `"ch":${this.#channelOf(Number(ch))}`);
  }

  #channelOf(ch: number): number {
    return this.#channels.get(ch) ?? ch;
  }
}
