import { expect, test } from "vitest";
import { collect } from "../../src/views/save";

async function* chunks(count: number, size: number) {
  for (let n = 0; n < count; n++) yield new Uint8Array(size).fill(n);
}

test("chunks are collected in order, also many", async () => {
  const blob = await collect(chunks(20, 1_000_000));
  expect(blob.size).toBe(20_000_000);
  const bytes = new Uint8Array(await blob.arrayBuffer());
  expect([bytes[0], bytes[9_999_999], bytes[19_999_999]]).toEqual([0, 9, 19]);
});
