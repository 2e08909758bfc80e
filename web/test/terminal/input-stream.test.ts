import { expect, test } from "vitest";
import { InputStream, MAX_WAITING } from "../../src/terminal/input-stream";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (chunk: { offset: number; bytes: Uint8Array } | undefined) =>
  chunk && `${chunk.offset}:${new TextDecoder().decode(chunk.bytes)}`;

test("bytes go out once, in order, in pieces of what is allowed", () => {
  const input = new InputStream();
  input.append(bytes("abc"));
  input.append(bytes("defg"));
  expect(text(input.take(2))).toBe("0:ab");
  expect(text(input.take(4))).toBe("2:cdef");
  expect(input.take(0)).toBeUndefined();
  expect(text(input.take(9))).toBe("6:g");
  expect(input.take(9)).toBeUndefined();
});

test("what is applied is forgotten, the rest is sent again from the server's offset", () => {
  const input = new InputStream();
  input.append(bytes("abcdef"));
  input.take(6);
  input.credit(2);
  expect(input.applied).toBe(2);
  expect(input.resume(4)).toBe(true);
  expect(text(input.take(9))).toBe("4:ef");
});

test("an offset that it cannot go on from is refused", () => {
  const input = new InputStream();
  input.append(bytes("abc"));
  input.take(3);
  input.credit(3);
  expect(input.resume(0)).toBe(false);
  expect(input.resume(4)).toBe(false);
  expect(input.resume(3)).toBe(true);
});

test("credit for more than was sent does not lose what was not", () => {
  const input = new InputStream();
  input.append(bytes("abc"));
  input.take(1);
  input.credit(99);
  expect(text(input.take(9))).toBe("1:bc");
});

test("it is bounded, and takes all or nothing", () => {
  const input = new InputStream();
  expect(input.append(new Uint8Array(MAX_WAITING - 1))).toBe(true);
  expect(input.append(new Uint8Array(2))).toBe(false);
  expect(input.end).toBe(MAX_WAITING - 1);
  expect(input.append(new Uint8Array(1))).toBe(true);
});

test("each has a name of its own", () => {
  expect(new InputStream().id).toMatch(/^[0-9a-f]{32}$/);
  expect(new InputStream().id).not.toBe(new InputStream().id);
});
