import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { collectExec } from "../../src/client/exec";
import type { MethodStream } from "../../src/client/streams";
import { interrupted } from "../../src/wire/errors";
import type { Exec, ExecResult } from "../../src/wire/methods";
import { makeHarness } from "../fakes/harness";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const opened = (instance = "i") => ({ event: "opened", value: { instance } });
const data = (kind: number, offset: number, text: string) => ({
  event: "data",
  kind,
  offset,
  bytes: new TextEncoder().encode(text),
});
const ended = (stdout: number, stderr = 0): ExecResult => ({ code: 0, stdout, stderr });

/** Runs a command whose calls, one for each connection, yield the items and then the result or the error. */
function run(calls: { items: object[]; end: ExecResult | Error }[], max_output?: number) {
  const params: Exec[] = [];
  const open = (sent: Exec): MethodStream<"exec"> => {
    params.push(sent);
    const { items, end } = calls[params.length - 1] ?? {
      items: [],
      end: new Error("there is no other call"),
    };
    const iterate = async function* () {
      yield* items;
      if (end instanceof Error) throw end;
    };
    const result = end instanceof Error ? undefined : Promise.resolve(end);
    return Object.assign(iterate(), { again: open, result }) as unknown as MethodStream<"exec">;
  };
  const done = collectExec(open, ["make"], max_output === undefined ? {} : { max_output });
  return { done, params };
}

test("output that is longer than the limit is cut, and the outcome is truncated", async () => {
  const items = [opened(), data(1, 0, "abc"), data(2, 0, "e"), data(1, 3, "def")];
  const { done, params } = run([{ items, end: ended(9, 1) }], 4);
  const { stdout, stderr, text, truncated } = await done;
  expect([text, stdout.length, stderr.length, truncated]).toEqual(["abcd", 4, 1, true]);
  expect(params[0]).toEqual({ argv: ["make"], max_output: 4 });
});

test("output of exactly the limit is complete", async () => {
  const { done } = run([{ items: [opened(), data(1, 0, "abcd")], end: ended(4) }], 4);
  expect(await done).toMatchObject({ text: "abcd", truncated: false });
});

test("after a lost connection, output continues at its offset", async () => {
  const { done, params } = run([
    { items: [opened(), data(1, 0, "abc")], end: interrupted("exec") },
    { items: [opened(), data(1, 3, "def")], end: ended(6) },
  ]);
  expect(await done).toMatchObject({ text: "abcdef", truncated: false });
  expect(params[1]?.since).toEqual({ stdout: 3, stderr: 0 });
});

test.each([
  ["an event says so", [opened(), { event: "truncated", value: { stream: "stdout", from: 7 } }], ended(9)],
  ["the next bytes are later ones", [opened(), data(1, 7, "hi")], ended(9)],
  ["the server has sent more", [opened()], ended(7)],
])("lost output is an error: %s", async (_, items, end) => {
  const { done } = run([{ items, end }]);
  const details = { stream: "stdout", missing: 7 };
  await expect(done).rejects.toMatchObject({ code: "too_large", admitted: "yes", details });
});

test("a sandbox that was restarted may have run the command again", async () => {
  const { done } = run([
    { items: [opened("i")], end: interrupted("exec") },
    { items: [opened("j")], end: ended(0) },
  ]);
  await expect(done).rejects.toMatchObject({ code: "outcome_unknown", admitted: "yes" });
});

test("a command whose connection is lost is joined with its key, its age and the offsets of its output", async () => {
  const { client, gateway, runUntilIdle } = makeHarness();
  gateway.respond = () => undefined;
  client.connect();
  await runUntilIdle();
  const done = client.sandbox("box").exec("make", { cwd: "src" });
  await runUntilIdle();
  gateway.respond = () => ({ value: { code: 0, stdout: 0, stderr: 0 } });
  gateway.socket.cut();
  await runUntilIdle(2_000);
  expect(await done).toMatchObject({ code: 0, text: "", truncated: false });
  const [first, second] = gateway.calls;
  expect(second).toEqual({
    ...first,
    ch: 1,
    age: expect.any(Number),
    params: { command: "make", cwd: "src", max_output: 67_108_864, since: { stdout: 0, stderr: 0 } },
  });
});
