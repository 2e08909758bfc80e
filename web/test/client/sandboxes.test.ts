import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MethodStream } from "../../src/client/streams";
import type { Call } from "../../src/wire/protocol";
import { makeHarness } from "../fakes/harness";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Outcome = { value: unknown } | { error: object };

async function makeConnected(...outcomes: Outcome[]) {
  const harness = makeHarness();
  harness.gateway.respond = () => outcomes.shift();
  harness.client.connect();
  await harness.runUntilIdle();
  /** Runs the network until `promise` is settled. */
  const settled = async <T>(promise: Promise<T>): Promise<T> => {
    promise.catch(() => {});
    for (let round = 0; round < 3; round++) await harness.runUntilIdle();
    return await promise;
  };
  return { ...harness, settled };
}

const failure = (code: string, details = {}): Outcome => ({
  error: { code, message: code, retryable: false, admitted: "no", details },
});
const paramsOf = (calls: Call[]) => calls.map(({ params }) => params);

test("a sandbox is created under a random id, and its handle is returned", async () => {
  const { client, gateway, settled } = await makeConnected({ value: {} });
  const box = await settled(client.sandboxes.create({ template: "python" }));
  expect(box.id).toMatch(/^s-/);
  expect(gateway.calls).toMatchObject([
    {
      method: "sandbox.create",
      params: { template: "python", id: box.id },
      key: expect.any(String),
    },
  ]);
});

test("a user with a prefix gets a sandbox whose id starts with it", async () => {
  const { client, settled } = await makeConnected(failure("invalid_params", { prefix: "ann." }), {
    value: {},
  });
  expect((await settled(client.sandboxes.create())).id).toMatch(/^ann\./);
});

test("an id that was chosen is not replaced", async () => {
  const { client, settled } = await makeConnected(failure("invalid_params", { prefix: "ann." }));
  await expect(settled(client.sandboxes.create({ id: "build" }))).rejects.toMatchObject({
    code: "invalid_params",
  });
});

test("all pages are listed", async () => {
  const { client, gateway, settled } = await makeConnected(
    { value: { sandboxes: [{ id: "a" }], after: "a" } },
    { value: { sandboxes: [{ id: "b" }], after: null } },
  );
  const found = await settled(client.sandboxes.list({ team: "x" }));
  expect(found.map(({ id }) => id)).toEqual(["a", "b"]);
  expect(paramsOf(gateway.calls)).toEqual([
    { labels: { team: "x" }, after: null },
    { labels: { team: "x" }, after: "a" },
  ]);
});

test("each action is a method of the gateway", async () => {
  const { client, gateway, settled } = await makeConnected(...Array(7).fill({ value: { id: "a" } }));
  const { sandboxes } = client;
  expect(await settled(sandboxes.get("a"))).toEqual({ id: "a" });
  for (const name of ["start", "stop", "pause", "resume", "delete"] as const)
    await settled<unknown>(sandboxes[name]("a"));
  await settled(sandboxes.update("a", { keep_alive: true }));
  expect(gateway.calls.map(({ method, params }) => [method, params])).toEqual([
    ["sandbox.get", { id: "a" }],
    ["sandbox.start", { id: "a" }],
    ["sandbox.stop", { id: "a" }],
    ["sandbox.pause", { id: "a" }],
    ["sandbox.resume", { id: "a" }],
    ["sandbox.delete", { id: "a" }],
    ["sandbox.update", { id: "a", keep_alive: true }],
  ]);
});

test("an action whose outcome the gateway has forgotten is repeated by the id", async () => {
  const { client, gateway, settled } = await makeConnected(
    failure("outcome_unknown"),
    { value: {} },
    failure("outcome_unknown"),
    failure("not_found"),
    failure("not_found"),
  );
  const box = await settled(client.sandboxes.create());
  await settled(client.sandboxes.delete(box.id));
  expect(paramsOf(gateway.calls)).toEqual(Array(4).fill({ id: box.id }));
  expect(new Set(gateway.calls.map(({ key }) => key)).size).toBe(4);
  await expect(settled(client.sandboxes.delete("other"))).rejects.toMatchObject({ code: "not_found" });
});

test("templates are listed, and changes watched", async () => {
  const { client, settled } = await makeConnected({ value: { templates: [{ name: "python" }] } });
  expect(await settled(client.sandboxes.templates())).toEqual([{ name: "python" }]);
  expect(client.sandboxes.watch({ labels: {} })).toBeInstanceOf(MethodStream);
});
