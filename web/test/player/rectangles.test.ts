import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { inflate, parseRectangles, toRgba } from "../../src/player/rectangles";

function encoded(...rectangles: [number, number, number, number, Uint8Array][]): string {
  const parts = rectangles.map(([x, y, width, height, rgb]) => {
    const data = deflateSync(rgb);
    const head = Buffer.alloc(12);
    for (const [at, value] of [x, y, width, height].entries()) head.writeUInt16BE(value, 2 * at);
    head.writeUInt32BE(data.length, 8);
    return Buffer.concat([head, data]);
  });
  return Buffer.concat(parts).toString("base64");
}

test("the rectangles of a line are read, and their pixels", async () => {
  const found = parseRectangles(
    encoded([1, 2, 2, 1, Uint8Array.of(1, 2, 3, 4, 5, 6)], [300, 400, 1, 1, Uint8Array.of(7, 8, 9)]),
  );
  expect(found.map(({ x, y, width, height }) => [x, y, width, height])).toEqual([
    [1, 2, 2, 1],
    [300, 400, 1, 1],
  ]);
  const [first] = found;
  expect(first && [...toRgba(await inflate(first.data, 6), 2)]).toEqual([1, 2, 3, 255, 4, 5, 6, 255]);
});

test("damaged data is left out", async () => {
  expect(parseRectangles("")).toEqual([]);
  expect(parseRectangles("no base64!")).toEqual([]);
  const whole = encoded([0, 0, 1, 1, Uint8Array.of(1, 2, 3)], [0, 0, 1, 1, Uint8Array.of(1, 2, 3)]);
  expect(parseRectangles(whole.slice(0, -8)).length).toBe(1);
  await expect(inflate(Uint8Array.of(1, 2, 3), 3)).rejects.toThrow();
  expect([...toRgba(Uint8Array.of(1), 1)]).toEqual([1, 0, 0, 255]);
});

test("data that expands beyond its pixels is cut", async () => {
  const bomb = Uint8Array.from(deflateSync(new Uint8Array(1 << 22)));
  expect((await inflate(bomb, 3)).length).toBe(3);
  expect((await inflate(Uint8Array.from(deflateSync(Uint8Array.of(1, 2))), 3)).length).toBe(2);
});
