import { expect, test } from "vitest";
import { CastCursor } from "../../src/player/cast-cursor";
import type { RecordingSource } from "../../src/player/source";

const CAST = `${[
  '{"version":3,"term":{"cols":90,"rows":20}}',
  '[1.5,"o","a"]',
  "# a comment",
  '[0.25,"o","b"]',
].join("\n")}\n`;

/** Serves CAST in blocks of `size` bytes. */
function source(size: number): RecordingSource {
  const bytes = new TextEncoder().encode(CAST);
  return {
    info: () => Promise.reject(new Error("unused")),
    read: async (_, offset) => bytes.slice(offset, offset + size),
  };
}

test.each([1, 7, 1_000])("events have absolute times, read in blocks of %i bytes", async size => {
  const cursor = new CastCursor(source(size), 0, 0);
  const events = [];
  while (await cursor.fill()) {
    events.push(cursor.next);
    cursor.take();
  }
  expect(cursor.header).toMatchObject({ cols: 90, rows: 20 });
  expect(events).toEqual([
    { at: 1.5, code: "o", data: "a" },
    { at: 1.75, code: "o", data: "b" },
  ]);
});

test("from a position inside the cast, times continue from the given time", async () => {
  const cursor = new CastCursor(source(1_000), CAST.indexOf("[0.25"), 10);
  await cursor.fill();
  expect([cursor.next?.at, cursor.header]).toEqual([10.25, undefined]);
});
