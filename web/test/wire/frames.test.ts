import { expect, test } from "vitest";
import { MisuseError, ProtocolViolation } from "../../src/wire/errors";
import {
  decodeFrame,
  encodeFrame,
  HEADER_BYTES,
  INPUT,
  MAX_CHANNEL,
  MAX_PAYLOAD,
} from "../../src/wire/frames";

const payload = Uint8Array.of(1, 2, 3);

test("a frame is its kind, channel (u32), offset (u64) in big-endian, and its payload", () => {
  const bytes = encodeFrame({ kind: INPUT, ch: 0x01020304, offset: 0x05060708090a, payload });
  expect([...bytes]).toEqual([0, 1, 2, 3, 4, 0, 0, 5, 6, 7, 8, 9, 10, 1, 2, 3]);
});

test("the largest offset and channel survive a round trip", () => {
  const frame = { kind: 1, ch: MAX_CHANNEL, offset: Number.MAX_SAFE_INTEGER - 3, payload } as const;
  expect(decodeFrame(encodeFrame(frame))).toEqual(frame);
});

test("a decoded payload is a view of the received bytes", () => {
  const bytes = encodeFrame({ kind: INPUT, ch: 1, offset: 0, payload });
  expect(decodeFrame(bytes).payload.buffer).toBe(bytes.buffer);
});

test.each([
  ["a negative offset", { offset: -1 }],
  ["an offset beyond 2^53 - 1", { offset: Number.MAX_SAFE_INTEGER }],
  ["channel 0", { ch: 0 }],
  ["a fractional channel", { ch: 1.5 }],
  ["a channel beyond u32", { ch: MAX_CHANNEL + 1 }],
  ["a payload that is too long", { payload: new Uint8Array(MAX_PAYLOAD + 1) }],
])("%s cannot be encoded", (_, change) => {
  expect(() => encodeFrame({ kind: INPUT, ch: 1, offset: 0, payload, ...change })).toThrow(MisuseError);
});

test.each([
  ["a short header", new Uint8Array(HEADER_BYTES - 1)],
  ["an unknown kind", Uint8Array.of(4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)],
  ["channel 0", new Uint8Array(HEADER_BYTES)],
  ["an offset beyond 2^53 - 1", Uint8Array.of(1, 0, 0, 0, 1, 0, 0x20, 0, 0, 0, 0, 0, 0)],
  ["a payload that is too long", Uint8Array.of(1, 0, 0, 0, 1, ...new Uint8Array(8 + MAX_PAYLOAD + 1))],
])("a frame with %s is a protocol violation", (_, bytes) => {
  expect(() => decodeFrame(bytes)).toThrow(ProtocolViolation);
});
