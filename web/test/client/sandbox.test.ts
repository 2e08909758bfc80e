import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MethodStream } from "../../src/client/streams";
import { makeHarness } from "../fakes/harness";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a method of a namespace is called with the sandbox and a key", async () => {
  const { client, gateway, runUntilIdle } = makeHarness();
  client.connect();
  const result = client.sandbox("box").file.stat({ path: "x" });
  await runUntilIdle();
  expect(await result).toEqual({});
  expect(gateway.calls).toMatchObject([
    { method: "file.stat", sandbox: "box", params: { path: "x" }, key: expect.any(String) },
  ]);
});

test("a method that sends events is a stream", () => {
  const { client } = makeHarness();
  expect(client.sandbox().file.list({ path: "." })).toBeInstanceOf(MethodStream);
});

test("a handle and its namespaces are not promises", async () => {
  const { client } = makeHarness();
  const box = client.sandbox("box");
  expect(await box).toBe(box);
  expect(await box.git).toBe(box.git);
});

test("a command runs in a terminal only if `terminal` is true", async () => {
  const { client, gateway, runUntilIdle } = makeHarness();
  client.connect();
  const box = client.sandbox("box");
  void box.exec("true", { terminal: false }).catch(() => {});
  void box.exec("true", { terminal: undefined }).catch(() => {});
  await runUntilIdle();
  expect(gateway.calls.map(({ method }) => method)).toEqual(["exec", "exec"]);
  expect(gateway.calls.every(({ params }) => !("terminal" in (params as object)))).toBe(true);
});

test("the names of methods determine their types", () => {
  const box = makeHarness().client.sandbox();
  // Only checked by the compiler: a directive without an error in the next line is an error itself.
  const typed = async () => {
    (await box.file.stat({ path: "x" })).size satisfies number;
    (await box.exec("true")).text satisfies string;
    for await (const item of box.file.list({ path: "." })) {
      if (item.event === "entries") item.value.entries[0]?.path satisfies string | undefined;
      // @ts-expect-error: the method has no such event
      if (item.event === "changes") return;
    }
    // @ts-expect-error: no method has this name
    await box.file.fetch({ path: "x" });
    // @ts-expect-error: a required parameter is missing
    await box.file.stat({});
  };
  expect(typed).toBeTypeOf("function");
});
