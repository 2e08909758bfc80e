// The golden vectors, shared with pytest. tests/vectors/README.md describes their fields.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Connection } from "../../src/wire/connection";
import { MisuseError, ProtocolViolation } from "../../src/wire/errors";
import { decodeFrame, encodeFrame } from "../../src/wire/frames";
import { memberText, utf8Length } from "../../src/wire/json-slice";
import { encodeMessage, parseServerMessage } from "../../src/wire/messages";
import type { ClientMessage, Kind } from "../../src/wire/protocol";
import { drive, type Session } from "../fakes/session-driver";

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../tests/vectors/${name}`, import.meta.url), "utf8"));

interface MessageVector {
  name: string;
  from: "client" | "server";
  type: string;
  text?: string;
  hex?: string;
  prefix?: string;
  pad?: string;
  suffix?: string;
  length?: number;
  fields: Record<string, unknown>;
  cost?: number;
  code: string;
}

interface FrameVector {
  name: string;
  from: "client" | "server";
  hex: string;
  kind: Kind;
  ch: number;
  offset: string;
  payload: string;
  payload_length?: number;
  code: string;
}

const messages: Record<"valid" | "tolerated" | "invalid", MessageVector[]> = read("messages.json");
const frames: Record<"valid" | "invalid", FrameVector[]> = read("frames.json");
const sessions: Session[] = read("sessions.json").sessions;
const fromServer = (vector: { from: string }) => vector.from === "server";

describe("messages", () => {
  for (const { name, text = "", type, fields, cost } of [...messages.valid, ...messages.tolerated].filter(
    fromServer,
  )) {
    test(`parsed: ${name}`, () => {
      expect(parseServerMessage(text)).toMatchObject({ type, ...fields });
      if (cost !== undefined) expect(utf8Length(memberText(text, "value") ?? "") + 64).toBe(cost);
    });
  }
  for (const { name, text = "", type, fields } of messages.valid.filter(vector => !fromServer(vector))) {
    test(`encoded with the same meaning: ${name}`, () => {
      const written = encodeMessage({ type, ...fields } as ClientMessage);
      expect(JSON.parse(written)).toEqual(JSON.parse(text));
    });
  }
  for (const vector of messages.invalid.filter(fromServer)) {
    test(`rejected: ${vector.name}`, () => {
      // A browser's WebSocket itself rejects text that is not valid UTF-8.
      if (vector.hex !== undefined) return;
      const { prefix = "", pad = "", suffix = "", length = 0, text = "" } = vector;
      const whole =
        vector.prefix === undefined ? text : prefix + pad.repeat(Math.ceil(length / pad.length)) + suffix;
      expect(codeOf(() => receiver().receive(whole))).toBe(vector.code);
    });
  }
});

describe("frames", () => {
  for (const { name, hex, kind, ch, offset, payload } of frames.valid) {
    const frame = { kind, ch, offset: Number(offset), payload: bytes(payload) };
    test(`decoded and encoded: ${name}`, () => {
      expect(decodeFrame(bytes(hex))).toEqual(frame);
      expect(Buffer.from(encodeFrame(frame)).toString("hex")).toBe(hex);
    });
  }
  for (const { name, hex, payload_length = 0, code } of frames.invalid.filter(fromServer)) {
    test(`rejected: ${name}`, () => {
      const whole = new Uint8Array([...bytes(hex), ...new Uint8Array(payload_length)]);
      expect(codeOf(() => decodeFrame(whole))).toBe(code);
    });
  }
});

describe("dialogues", () => {
  for (const session of sessions) test(session.name, () => drive(session));
});

function receiver(): Connection {
  const connection = new Connection({ client: "test", window: 1000 });
  const rest = { server: "s", identity: "i", role: "r", limits: {}, abilities: [] };
  connection.receive(JSON.stringify({ type: "welcome", protocol: 1, ...rest }));
  return connection;
}

function codeOf(action: () => unknown): string | undefined {
  try {
    action();
  } catch (problem) {
    if (problem instanceof MisuseError) throw problem;
    return problem instanceof ProtocolViolation ? problem.code : String(problem);
  }
  return undefined;
}

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, "hex"));
}
