import { expect, test } from "vitest";
import { HawseClient } from "../../src/client/hawse-client";
import { Sandboxes } from "../../src/client/sandboxes";

test("it leads to one sandbox, and to all", () => {
  const client = new HawseClient({ base: "http://gateway.test/" });
  expect([client.sandbox().id, client.sandbox("box").id]).toEqual(["local", "box"]);
  expect(client.sandboxes).toBeInstanceOf(Sandboxes);
});
