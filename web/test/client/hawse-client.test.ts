import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HawseClient } from "../../src/client/hawse-client";
import { Sandboxes } from "../../src/client/sandboxes";
import { MisuseError } from "../../src/wire/errors";
import { makeHarness } from "../fakes/harness";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("it leads to one sandbox, and to all", () => {
  const client = new HawseClient({ base: "http://gateway.test/" });
  expect([client.sandbox().id, client.sandbox("box").id]).toEqual(["local", "box"]);
  expect(client.sandboxes).toBeInstanceOf(Sandboxes);
});

test.each([
  ["localhost:8080", "is not the URL of a gateway"],
  ["ftp://gateway.test/", "is not the URL of a gateway"],
  ["", "is not the URL of a gateway"],
  [undefined, "`base` is required outside of a page"],
])("the base %j is refused at once", (base, text) => {
  expect(() => new HawseClient({ base, token: "secret" })).toThrow(text);
});

test.each([
  ["http://gateway.test", "http://gateway.test/v1/tickets"],
  ["wss://gateway.test/hawse", "https://gateway.test/hawse/v1/tickets"],
  ["https://gateway.test/hawse/#token=x", "https://gateway.test/hawse/v1/tickets"],
])("the base %s is the directory of v1/", async (base, tickets) => {
  const { client, runUntilIdle } = makeHarness({
    base,
    ticket: async url => {
      asked = new URL("v1/tickets", url).href;
      return "t";
    },
  });
  let asked = "";
  client.connect();
  await runUntilIdle();
  expect(asked).toBe(tickets);
  expect(client.state.phase).toBe("live");
});

test.each([0, -1, Number.NaN])("a connect time-out of %d seconds is refused", connectTimeout => {
  expect(() => makeHarness({ connectTimeout })).toThrow(MisuseError);
});

test("without a WebSocket connect throws at once", () => {
  vi.stubGlobal("WebSocket", undefined);
  const client = new HawseClient({ base: "http://gateway.test/", token: "secret" });
  expect(() => client.connect()).toThrow(/no WebSocket: pass `openSocket`/);
  expect(vi.getTimerCount()).toBe(0);
  vi.unstubAllGlobals();
});
