// Data frames: `kind u8 | ch u32 | offset u64 | payload`, big-endian (docs/wire.md section 3).

import { MisuseError, ProtocolViolation } from "./errors";
import type { Frame, Kind } from "./protocol";

export const HEADER_BYTES = 13;
export const MAX_PAYLOAD = 65_536;
export const MAX_CHANNEL = 0xffff_ffff;

export const INPUT: Kind = 0;
export const OUTPUT: Kind = 1;
export const STDERR: Kind = 2;
export const SCREEN: Kind = 3;

const TWO_32 = 0x1_0000_0000;

export function encodeFrame(frame: Frame): Uint8Array<ArrayBuffer> {
  const { kind, ch, offset, payload } = frame;
  if (!Number.isSafeInteger(offset + payload.length) || offset < 0)
    throw new MisuseError(`offset ${offset} is not an integer from 0 to 2^53 - 1`);
  if (payload.length > MAX_PAYLOAD)
    throw new MisuseError(`payload of ${payload.length} bytes exceeds ${MAX_PAYLOAD}`);
  if (!Number.isInteger(ch) || ch < 1 || ch > MAX_CHANNEL)
    throw new MisuseError(`channel ${ch} is not an integer from 1 to ${MAX_CHANNEL}`);
  const bytes = new Uint8Array(HEADER_BYTES + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, kind);
  view.setUint32(1, ch);
  view.setUint32(5, Math.floor(offset / TWO_32));
  view.setUint32(9, offset % TWO_32);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

/** Parses a frame. The payload is a view of `bytes`, not a copy. Throws ProtocolViolation. */
export function decodeFrame(bytes: Uint8Array): Frame {
  if (bytes.length < HEADER_BYTES) {
    throw new ProtocolViolation(
      "invalid_message",
      `a frame of ${bytes.length} bytes is shorter than its header of ${HEADER_BYTES}`,
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = view.getUint8(0);
  if (kind > SCREEN) throw new ProtocolViolation("invalid_message", `unknown frame kind: ${kind}`);
  const ch = view.getUint32(1);
  if (ch === 0) throw new ProtocolViolation("protocol_error", "channel 0 does not exist");
  const offset = view.getUint32(5) * TWO_32 + view.getUint32(9);
  // A u64 can exceed the integers that a double represents exactly. At 1 MB/s, it takes 285 years to send 2^53 bytes.
  if (!Number.isSafeInteger(offset + (bytes.length - HEADER_BYTES))) {
    throw new ProtocolViolation("protocol_error", "the frame's offset exceeds 2^53 - 1");
  }
  if (bytes.length - HEADER_BYTES > MAX_PAYLOAD) {
    throw new ProtocolViolation(
      "protocol_error",
      `a payload of ${bytes.length - HEADER_BYTES} bytes exceeds ${MAX_PAYLOAD}`,
    );
  }
  return { kind: kind as Kind, ch, offset, payload: bytes.subarray(HEADER_BYTES) };
}
