import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { HawseClient } from "../../src/client/hawse-client";
import { HawseError } from "../../src/wire/errors";
import { makeHarness } from "../fakes/harness";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("welcome and state belong to the current connection", async () => {
  const { client, runUntilIdle } = makeHarness();
  expect([client.state.phase, client.welcome]).toEqual(["idle", undefined]);
  client.connect();
  await runUntilIdle();
  expect([client.state.phase, client.welcome?.role]).toEqual(["live", "owner"]);
});

test("the round-trip time is known after the first pong", async () => {
  const { client, runUntilIdle } = makeHarness();
  client.connect();
  await runUntilIdle(2_000);
  expect(client.roundTrip).toBeGreaterThanOrEqual(0);
});

test("the method's name determines the types of the parameters and of the result", () => {
  const { client } = makeHarness();
  // Only checked by the compiler: a directive without an error in the next line is an error itself.
  const typed = () => [
    client.call("terminal.get", { id: "x" }).then(({ pid }): number | null | undefined => pid),
    client.call("share.create", { terminal: "main" }).then(({ token }): string => token),
    client.call("terminal.list", {}, { sandbox: "local" }),
    // @ts-expect-error: no method has this name
    client.call("terminal.fetch", { id: "x" }),
    // @ts-expect-error: a required parameter is missing
    client.call("terminal.get", {}),
    // @ts-expect-error: the parameters are missing
    client.call("terminal.get"),
    // @ts-expect-error: the method has no such parameter
    client.call("terminal.get", { id: "x", name: "y" }),
    // @ts-expect-error: the parameter has another type
    client.call("terminal.get", { id: 1 }),
    // @ts-expect-error: the result has no such field
    client.call("share.create", {}).then(({ secret }) => secret),
  ];
  expect(typed).toBeTypeOf("function");
});

test("open returns undefined while there is no connection, and a channel on the next one", async () => {
  const { client, gateway, runUntilIdle } = makeHarness();
  const handlers = { result: () => {}, error: () => {} };
  expect(client.open("x", {}, handlers)).toBeUndefined();
  client.connect();
  await runUntilIdle();
  expect(client.open("x", {}, handlers)).toBeDefined();
  gateway.socket.cut();
  expect(client.open("x", {}, handlers)).toBeUndefined();
});

/** Makes a call, a stream of bytes, output that continues and an upload; returns the code of each error. */
async function codesOf(client: HawseClient, run: () => Promise<unknown>): Promise<string[]> {
  const box = client.sandbox("box");
  const codes: string[] = [];
  const note = (problem: unknown) =>
    void codes.push(problem instanceof HawseError ? problem.code : String(problem));
  const all = [
    client.call("runtime.info"),
    client.call("runtime.info", {}, { key: "k" }),
    box.exec("true"),
    box.readText("x"),
    box.write("x", "y"),
    box.run("1"),
    box.output("p").next(),
    client.sandboxes.list(),
    client.sandboxes.watch().result,
  ].map(promise => promise.then(() => note("fulfilled"), note));
  await run();
  await Promise.all(all);
  return codes;
}

const error =
  (code: string, retryable = false) =>
  async () => {
    throw new HawseError(code, code, { retryable });
  };
const times = { connectTimeout: 10 };

test.each([
  ["a wrong token", { ticket: error("unauthenticated") }, "unauthenticated"],
  ["no token", { token: undefined }, "unauthenticated"],
  ["a token without the right", { ticket: error("forbidden") }, "forbidden"],
  ["a gateway that is overloaded", { ticket: error("unavailable", true) }, "unavailable"],
  ["a ticket that never comes", { ticket: () => new Promise<never>(() => {}) }, "unavailable"],
  [
    "a function of the caller that fails",
    { ticket: async () => Promise.reject(new TypeError("x")) },
    "unavailable",
  ],
  [
    "a WebSocket that cannot be opened",
    {
      openSocket: () => {
        throw new SyntaxError("bad URL");
      },
    },
    "invalid_params",
  ],
])("every call ends with %s", async (_, options, code) => {
  const { client, runUntilIdle } = makeHarness({ ...times, ...options });
  const codes = await codesOf(client, async () => {
    client.connect();
    await runUntilIdle(11_000);
  });
  expect(codes).toEqual(Array(9).fill(code));
  client.close();
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  [4401, "unauthenticated"],
  [4403, "forbidden"],
  [1007, "invalid_message"],
  [1008, "protocol_error"],
  [1009, "too_large"],
])(
  "calls that run and calls after it end when the gateway closes the connection with %i",
  async (close, code) => {
    const { client, gateway, runUntilIdle } = makeHarness(times);
    gateway.respond = () => undefined;
    client.connect();
    await runUntilIdle();
    const running = await codesOf(client, async () => {
      await runUntilIdle();
      gateway.socket.cut(close);
      await runUntilIdle();
    });
    expect(running).toEqual(Array(9).fill(code));
    expect(await codesOf(client, () => runUntilIdle())).toEqual(Array(9).fill(code));
    client.close();
    expect(vi.getTimerCount()).toBe(0);
  },
);

test.each([4408, 4429, 1011, 1012, 1006])(
  "close code %i before welcome is retried, and calls end after a time",
  async close => {
    const { client, gateway, runUntilIdle } = makeHarness(times);
    client.connect();
    const codes = await codesOf(client, async () => {
      for (let round = 0; round < 220; round++) {
        await vi.advanceTimersByTimeAsync(50);
        gateway.socket?.cut(close);
      }
      await runUntilIdle();
    });
    expect(codes).toEqual(Array(9).fill("unavailable"));
    expect(client.state.phase).toBe("waiting");
  },
);

test("a server of another protocol ends every call", async () => {
  const { client, gateway, runUntilIdle } = makeHarness(times);
  client.connect();
  const codes = await codesOf(client, async () => {
    await vi.advanceTimersByTimeAsync(0);
    const { limits } = gateway;
    const welcome = {
      type: "welcome",
      protocol: 2,
      server: "s",
      identity: "i",
      role: "r",
      limits,
      abilities: [],
    };
    gateway.socket.toClient.push(JSON.stringify(welcome));
    gateway.socket.deliver("toClient");
    await runUntilIdle();
  });
  expect(codes).toEqual(Array(9).fill("protocol_error"));
});

test("close ends running, waiting and later calls", async () => {
  const { client, gateway, runUntilIdle } = makeHarness(times);
  gateway.respond = () => undefined;
  expect(
    await codesOf(client, async () => {
      client.connect();
      await runUntilIdle();
      client.close();
    }),
  ).toEqual(Array(9).fill("cancelled"));
  expect(await codesOf(client, async () => {})).toEqual(Array(9).fill("cancelled"));
  expect(vi.getTimerCount()).toBe(0);
});

test("a goaway without an end of the connection leaves calls on it", async () => {
  const { client, gateway, runUntilIdle } = makeHarness(times);
  client.connect();
  await runUntilIdle();
  gateway.socket.toClient.push('{"type":"goaway","reason":"restart","retry_after":1e9}');
  const call = client.call("runtime.info");
  await runUntilIdle();
  expect(await call).toEqual({});
  gateway.socket.cut(1012);
  expect(await codesOf(client, () => runUntilIdle(11_000))).toEqual(Array(9).fill("unavailable"));
  expect(gateway.sockets).toHaveLength(1);
});

test("the error names the reason, also that connect was not called", async () => {
  const { client, runUntilIdle } = makeHarness({ ...times, ticket: error("unavailable", true) });
  const idle = client.call("runtime.info");
  idle.catch(() => {});
  await runUntilIdle(11_000);
  await expect(idle).rejects.toThrow("no connection within 10 s: connect() was not called");
  client.connect();
  const refused = client.call("runtime.info");
  refused.catch(() => {});
  await runUntilIdle(11_000);
  await expect(refused).rejects.toThrow("no connection within 10 s: unavailable");
});

test("calls of a page wait for the user to sign in", async () => {
  const { client, runUntilIdle } = makeHarness({ token: undefined });
  client.connect();
  const call = client.call("runtime.info");
  await runUntilIdle(60_000);
  client.signIn("secret");
  await runUntilIdle();
  expect(await call).toEqual({});
});
