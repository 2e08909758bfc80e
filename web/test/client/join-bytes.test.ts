import { expect, test } from "vitest";
import { joinBytes } from "../../src/client/join-bytes";

test("chunks are joined", () => {
  expect(joinBytes([Uint8Array.of(1), new Uint8Array(0), Uint8Array.of(2, 3)])).toEqual(
    Uint8Array.of(1, 2, 3),
  );
});
