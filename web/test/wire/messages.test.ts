import { expect, test } from "vitest";
import { ProtocolViolation } from "../../src/wire/errors";
import { DEFAULT_LIMITS, encodeMessage, parseServerMessage } from "../../src/wire/messages";

const WELCOME = { type: "welcome", protocol: 1, server: "s", identity: "i", role: "owner", abilities: [] };

test("limits that the server leaves out have their defaults", () => {
  const welcome = parseServerMessage(JSON.stringify({ ...WELCOME, limits: { channels: 7 } }));
  expect(welcome).toMatchObject({ limits: { ...DEFAULT_LIMITS, channels: 7 } });
});

test("unknown fields are ignored, and null means absent", () => {
  const text =
    '{"type":"error","ch":null,"code":"x","message":"m","retryable":false,"admitted":"no","new":1}';
  expect(parseServerMessage(text)).not.toHaveProperty("ch");
});

test.each([
  ["not JSON", "{", "not JSON"],
  ["an array", "[]", "not a JSON object"],
  ["no type", "{}", "without a string `type`"],
  ["a type of Object.prototype", '{"type":"toString"}', "unknown type: toString"],
  ["a channel of 0", '{"type":"result","ch":0,"value":1}', "invalid result.ch"],
  ["no value", '{"type":"result","ch":1}', "invalid result.value"],
  ["a grant of 0 bytes", '{"type":"credit","ch":1,"bytes":0}', "invalid credit.bytes"],
  ["a grant that is too large", '{"type":"credit","ch":1,"bytes":4194305}', "invalid credit.bytes"],
  ["a negative delay", '{"type":"goaway","reason":"","retry_after":-1}', "invalid goaway.retry_after"],
  ["a limit that is no number", JSON.stringify({ ...WELCOME, limits: { text: "1" } }), "limits.text"],
  ["another protocol", JSON.stringify({ ...WELCOME, protocol: 2, limits: {} }), "protocol 2"],
])("a message with %s is a protocol violation that names the fault", (_, text, fault) => {
  expect(() => parseServerMessage(text)).toThrow(ProtocolViolation);
  expect(() => parseServerMessage(text)).toThrow(fault);
});

test("a client's message is encoded as JSON", () => {
  expect(JSON.parse(encodeMessage({ type: "credit", ch: 1, bytes: 2 }))).toEqual({
    type: "credit",
    ch: 1,
    bytes: 2,
  });
});
