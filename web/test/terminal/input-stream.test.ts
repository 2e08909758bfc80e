import { expect, test } from "vitest";
import { InputStream, MAX_WAITING } from "../../src/terminal/input-stream";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (chunk: { offset: number; bytes: Uint8Array } | undefined) =>
  chunk && `${chunk.offset}:${new TextDecoder().decode(chunk.bytes)}`;

test("bytes are sent once, in order, in chunks within the limit", () => {
  const input = new InputStream();
  input.append(bytes("abc"));
  input.append(bytes("defg"));
  expect(text(input.take(2))).toBe("0:ab");
  expect(text(input.take(4))).toBe("2:cdef");
  expect(input.take(0)).toBeUndefined();
  expect(text(input.take(9))).toBe("6:g");
  expect(input.take(9)).toBeUndefined();
});

test("applied bytes are dropped, the rest is sent again from the server's offset", () => {
  const input = new InputStream();
  input.append(bytes("abcdef"));
  input.take(6);
  input.credit(2);
  expect(input.applied).toBe(2);
  expect(input.resume(4)).toBe(true);
  expect(text(input.take(9))).toBe("4:ef");
});

test("an offset outside of the stream is rejected", () => {
  const input = new InputStream();
  input.append(bytes("abc"));
  input.take(3);
  input.credit(3);
  expect(input.resume(0)).toBe(false);
  expect(input.resume(4)).toBe(false);
  expect(input.resume(3)).toBe(true);
});

test("credit for more bytes than were sent drops no unsent bytes", () => {
  const input = new InputStream();
  input.append(bytes("abc"));
  input.take(1);
  input.credit(99);
  expect(text(input.take(9))).toBe("1:bc");
});

test("it is bounded, and appends all or nothing", () => {
  const input = new InputStream();
  expect(input.append(new Uint8Array(MAX_WAITING - 1))).toBe(true);
  expect(input.append(new Uint8Array(2))).toBe(false);
  expect(input.end).toBe(MAX_WAITING - 1);
  expect(input.append(new Uint8Array(1))).toBe(true);
});

test("each stream has its own id", () => {
  expect(new InputStream().id).toMatch(/^[0-9a-f]{32}$/);
  expect(new InputStream().id).not.toBe(new InputStream().id);
});
