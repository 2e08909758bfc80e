import { expect, test } from "vitest";
import { STREAMS, type StreamMethod } from "../../src/wire/streams";

test("the methods that send events, bytes or take bytes are streams", () => {
  const names = ["exec", "file.list", "file.read", "file.write", "terminal.attach"] satisfies StreamMethod[];
  expect(STREAMS).toEqual(expect.arrayContaining(names));
  expect(STREAMS).not.toContain("file.stat");
});
