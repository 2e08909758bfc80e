// A gateway and its runtime in memory. It validates the client as strictly as docs/wire.md allows. What the client does
// wrong is collected in `violations`, which a test expects to stay empty.

import { decodeFrame, encodeFrame } from "../../src/wire/frames";
import { DEFAULT_LIMITS } from "../../src/wire/messages";
import type { TerminalAttach } from "../../src/wire/methods";
import type { Call, ClientMessage, Kind, Limits } from "../../src/wire/protocol";
import { FakeSocket, type Message } from "./fake-socket";
import { FakeTerminal } from "./fake-terminal";

interface Attachment {
  ch: number;
  terminal: FakeTerminal;
  input: string | undefined;
  /** Unused credit: granted by the client, and granted to the client. */
  window: number;
  inputWindow: number;
  queue: { kind: Kind; offset: number; bytes: Uint8Array }[];
  cursor: number;
  announced: number;
  live: boolean;
  closed: boolean;
}

export class FakeGateway {
  readonly limits: Limits = { ...DEFAULT_LIMITS };
  readonly terminals = new Map<string, FakeTerminal>();
  readonly violations: string[] = [];
  readonly calls: Call[] = [];
  readonly sockets: FakeSocket[] = [];
  /** Returns the outcome of a call other than terminal.attach; undefined leaves it pending. */
  respond: (call: Call) => { value: unknown } | { error: object } | undefined = () => ({ value: {} });
  /** Whether it refuses connections, as if nothing listened. */
  refuse = false;
  /** Maximum bytes of output in one frame. */
  maxFrame = 65_536;
  #sessions = new Set<Session>();

  terminal(id: string): FakeTerminal {
    let terminal = this.terminals.get(id);
    if (!terminal) {
      terminal = new FakeTerminal(id, `${id}-1`);
      this.terminals.set(id, terminal);
    }
    return terminal;
  }

  /** For the client's `openSocket`: the socket opens when the caller's microtasks are done. */
  readonly openSocket = (): WebSocket => {
    const socket = new FakeSocket();
    this.sockets.push(socket);
    queueMicrotask(() => {
      if (this.refuse) return socket.cut();
      const session = new Session(this, socket);
      this.#sessions.add(session);
      socket.open({ receive: data => session.receive(data), closed: () => this.#sessions.delete(session) });
    });
    return socket as unknown as WebSocket;
  };

  get socket(): FakeSocket {
    return this.sockets.at(-1) as FakeSocket;
  }

  /** Queues the messages that each attachment has credit for. */
  pump(): void {
    for (const session of this.#sessions) session.pump();
  }

  /** Delivers messages until none is left. */
  deliverAll(): void {
    for (let moved = 1; moved > 0; ) {
      this.pump();
      moved = this.socket.deliver("toServer");
      this.pump();
      moved += this.socket.deliver("toClient");
    }
  }

  /** Restarts all attachments from a snapshot, as after a journal overrun. */
  reseed(): void {
    for (const session of this.#sessions) session.reseed();
  }
}

class Session {
  readonly #gateway: FakeGateway;
  readonly #socket: FakeSocket;
  readonly #attachments = new Map<number, Attachment>();
  #window = 0;
  #lastChannel = 0;

  constructor(gateway: FakeGateway, socket: FakeSocket) {
    this.#gateway = gateway;
    this.#socket = socket;
  }

  receive(data: Message): void {
    if (typeof data === "string") this.#message(JSON.parse(data));
    else this.#input(data);
  }

  pump(): void {
    for (const attachment of this.#attachments.values()) this.#pump(attachment);
  }

  reseed(): void {
    for (const attachment of this.#attachments.values()) {
      attachment.live = false;
      this.#snapshot(attachment, "reseed");
    }
  }

  #message(message: ClientMessage): void {
    switch (message.type) {
      case "hello": {
        this.#window = message.window;
        const { limits } = this.#gateway;
        const rest = { identity: "me", role: "owner", limits, abilities: [] };
        this.#send({ type: "welcome", protocol: 1, server: "fake", ...rest });
        break;
      }
      case "call":
        if (message.ch <= this.#lastChannel)
          this.#gateway.violations.push(`channel ${message.ch} is not higher`);
        this.#lastChannel = message.ch;
        this.#gateway.calls.push(message);
        if (message.method === "terminal.attach") this.#attach(message);
        else this.#respond(message);
        break;
      case "ping":
        this.#send({ type: "pong", t: message.t });
        break;
      case "credit": {
        const attachment = this.#attachments.get(message.ch);
        if (attachment) attachment.window += message.bytes;
        if (attachment && attachment.window > this.#window)
          this.#gateway.violations.push("credit granted exceeds the bytes used");
        break;
      }
      case "cancel":
        if (this.#attachments.delete(message.ch)) this.#error(message.ch, "cancelled");
    }
  }

  #respond(call: Call): void {
    const outcome = this.#gateway.respond(call);
    if (!outcome) return;
    if ("value" in outcome) this.#send({ type: "result", ch: call.ch, ...outcome });
    else this.#send({ type: "error", ch: call.ch, ...outcome.error });
  }

  #attach(call: Call): void {
    const { id, instance, since, input } = call.params as TerminalAttach;
    const terminal = this.#gateway.terminals.get(id);
    if (!terminal) return void this.#error(call.ch, "not_found");
    if (instance !== undefined && instance !== terminal.instance)
      return void this.#error(call.ch, "stale_handle");
    if (typeof since === "number" && since > terminal.end) return void this.#error(call.ch, "invalid_params");
    const attachment: Attachment = {
      ch: call.ch,
      terminal,
      input: input ?? undefined,
      window: this.#window,
      inputWindow: this.#gateway.limits.input_window,
      queue: [],
      cursor: since ?? 0,
      announced: since ?? 0,
      live: false,
      closed: false,
    };
    this.#attachments.set(call.ch, attachment);
    if ((since ?? 0) < terminal.start) this.#snapshot(attachment, "opened");
    else {
      const { cols, rows } = terminal.sizeAt(attachment.cursor);
      const start_at = since === undefined ? "start" : "resume";
      const where = { cols, rows, start_at, from: attachment.cursor, screen: 0 };
      this.#event(attachment, "opened", { ...terminal.describe(), ...where, ...this.#applied(attachment) });
    }
  }

  #snapshot(attachment: Attachment, name: "opened" | "reseed"): void {
    const { terminal } = attachment;
    const from = terminal.end;
    const bytes = terminal.snapshot(from);
    const { cols, rows } = terminal.sizeAt(from);
    const rest = name === "opened" ? { ...terminal.describe(), start_at: "snapshot" } : {};
    const where = { cols, rows, from, screen: bytes.length };
    this.#event(attachment, name, { ...rest, ...where, ...this.#applied(attachment) });
    attachment.queue = [{ kind: 3, offset: 0, bytes }];
    attachment.cursor = from;
    attachment.announced = from;
  }

  #applied({ terminal, input }: Attachment): { input_offset: number } {
    return { input_offset: input === undefined ? 0 : (terminal.inputs.get(input) ?? 0) };
  }

  #input(data: Uint8Array): void {
    const { ch, offset, payload } = decodeFrame(data);
    const attachment = this.#attachments.get(ch);
    if (!attachment) return;
    attachment.inputWindow -= payload.length;
    if (attachment.inputWindow < 0) this.#gateway.violations.push("input exceeds the credit");
    if (attachment.input === undefined) this.#gateway.violations.push("input without an id");
    const applied = attachment.terminal.apply(attachment.input ?? "", offset, payload);
    if (applied === undefined) {
      this.#attachments.delete(ch);
      return void this.#error(ch, "input_gap");
    }
    if (payload.length === 0) return;
    attachment.inputWindow += payload.length;
    this.#send({ type: "credit", ch, bytes: payload.length });
  }

  #pump(attachment: Attachment): void {
    const { terminal, queue } = attachment;
    while (attachment.window > 0) {
      const next = queue[0] ?? this.#nextOutput(attachment);
      if (!next) break;
      const length = Math.min(next.bytes.length, attachment.window, this.#gateway.maxFrame);
      this.#frame(attachment, next.kind, next.offset, next.bytes.subarray(0, length));
      if (next.kind === 1) attachment.cursor += length;
      else if (length === next.bytes.length) queue.shift();
      else queue[0] = { ...next, offset: next.offset + length, bytes: next.bytes.subarray(length) };
    }
    if (queue.length > 0 || attachment.cursor < terminal.end || attachment.window <= 0) return;
    if (!attachment.live) this.#event(attachment, "live", { offset: terminal.end });
    attachment.live = true;
    if (!terminal.exit || attachment.window <= 0) return;
    this.#event(attachment, "exit", terminal.exit);
    this.#attachments.delete(attachment.ch);
    this.#send({ type: "result", ch: attachment.ch, value: { exit: terminal.exit, offset: terminal.end } });
  }

  /** Returns the output up to the next resize, and sends a resize that is due. */
  #nextOutput(attachment: Attachment): { kind: Kind; offset: number; bytes: Uint8Array } | undefined {
    const { terminal, cursor } = attachment;
    const due = terminal.sizes.find(size => size.offset > attachment.announced && size.offset <= cursor);
    if (due) {
      attachment.announced = due.offset;
      this.#event(attachment, "resized", { ...due });
      return attachment.window > 0 ? this.#nextOutput(attachment) : undefined;
    }
    if (cursor >= terminal.end) return undefined;
    const stop = terminal.sizes.find(size => size.offset > cursor)?.offset ?? terminal.end;
    return {
      kind: 1,
      offset: cursor,
      bytes: terminal.output(cursor, Math.min(stop, cursor + this.#gateway.maxFrame)),
    };
  }

  #frame(attachment: Attachment, kind: Kind, offset: number, payload: Uint8Array): void {
    attachment.window -= payload.length;
    this.#socket.toClient.push(encodeFrame({ kind, ch: attachment.ch, offset, payload }));
  }

  #event(attachment: Attachment, name: string, value: object): void {
    attachment.window -= JSON.stringify(value).length + 64;
    this.#send({ type: "event", ch: attachment.ch, name, value });
  }

  #error(ch: number, code: string): void {
    this.#send({ type: "error", ch, code, message: code, retryable: false, admitted: "no" });
  }

  #send(message: object): void {
    this.#socket.toClient.push(JSON.stringify(message));
  }
}
