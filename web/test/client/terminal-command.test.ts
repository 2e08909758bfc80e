import { expect, onTestFinished, test, vi } from "vitest";
import { execInTerminal, type TerminalCalls } from "../../src/client/terminal-command";
import { HawseError, interrupted } from "../../src/wire/errors";

type Params = Record<string, unknown>;

const bytes = (text: string) => new TextEncoder().encode(text);
const data = (offset: number, text: string) => ({ event: "data", kind: 1, offset, bytes: bytes(text) });
const opened = (from: number) => ({ event: "opened", value: { from } });
const asks = (kind: string, offset: number, since = 5) => ({
  event: "waiting",
  offset,
  waiting: { kind, since },
});
const exits = (offset: number, code = 0) => ({ event: "exit", offset, exit: { code } });
const timedOut = { event: "timeout", offset: 0 };
/** A wait that never ends. */
const FOREVER = {};
const silent = (offset: number) => ({ event: "silence", offset });

/** A sandbox that gives the next answer to each call. The output of an attachment follows its `opened`. */
function boxWith(answers: {
  waits: (object | Error)[];
  outputs: (object | Error)[][];
  states?: object[];
  refusals?: Error[];
  onWait?: () => void;
}) {
  const called: [string, Params][] = [];
  const next = <T>(list: T[] | undefined, missing: T) => list?.shift() ?? missing;
  const call = async (method: string, params: Params) => {
    called.push([method, params]);
    if (method === "terminal.create") {
      const refusal = answers.refusals?.shift();
      if (refusal) throw refusal;
      return { id: params.id, instance: "i" };
    }
    if (method === "terminal.get") return next(answers.states, { start: 0, offset: 0 });
    return method === "terminal.kill" ? { exit: { signal: "SIGHUP" } } : {};
  };
  const stream = (method: string, params: Params) => {
    called.push([method, params]);
    const again = (changed: Params) => stream(method, changed);
    if (method === "terminal.wait") {
      answers.onWait?.();
      const result = next(answers.waits, new Error("there is no other wait"));
      if (result === FOREVER) {
        const cancel = () => called.push(["cancel", params]);
        return Object.assign(new Promise(() => {}), { again, cancel });
      }
      const waited = result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
      return Object.assign(waited, { again, cancel: () => {} });
    }
    let cancel = () => {};
    const cancelled = new Promise<void>(resolve => {
      cancel = resolve;
    });
    async function* iterate() {
      for (const item of next(answers.outputs, [])) {
        if (item instanceof Error) throw item;
        yield item;
      }
      await cancelled; // the terminal prints nothing else
    }
    return Object.assign(iterate(), { again, cancel });
  };
  const paramsOf = (method: string) => called.filter(([name]) => name === method).map(([, params]) => params);
  return { box: { call, stream } as unknown as TerminalCalls, called, paramsOf };
}

test("a question is returned with its output, and answered", async () => {
  const { box, paramsOf } = boxWith({
    waits: [asks("line", 14), exits(24, 3)],
    outputs: [
      [opened(0), data(0, "\x1b[1mName?\x1b[0m "), data(14, "late")],
      [opened(14), data(14, "Anna\r\nhi\r\n")],
    ],
  });
  const asked = await execInTerminal(box, "ask", { terminal: true, cwd: "src", cols: 80, timeout: 9 });
  expect(asked).toMatchObject({ needsInput: { kind: "line" }, exit: undefined, missing: 0, offset: 14 });
  const ended = await asked.send({ text: "Anna", keys: ["enter"] });
  expect(ended).toMatchObject({ needsInput: undefined, exit: { code: 3 }, text: "Anna\nhi\n" });
  expect(paramsOf("terminal.create")).toEqual([
    {
      ...{ argv: ["/bin/bash", "-c", "ask"], cwd: "src", cols: 80, rows: 40, integration: false },
      id: asked.id,
    },
  ]);
  expect(paramsOf("terminal.send")).toEqual([
    { id: asked.id, instance: "i", text: "Anna", keys: ["enter"], question: 5 },
  ]);
  expect(paramsOf("terminal.attach")).toMatchObject([
    { instance: "i", since: 0, lossless: true, read_only: true, viewer: { kind: "agent" } },
    { since: 14 },
  ]);
});

test("a silent program ends a step only if it may be waiting", async () => {
  const { box } = boxWith({
    waits: [silent(0), silent(0), { event: "prompt", offset: 2 }],
    outputs: [[opened(0)], [opened(0), data(0, "$ ")]],
    states: [
      { start: 0, offset: 0 },
      { waiting: { kind: "no" } },
      { waiting: { kind: "unknown" } },
      { start: 0, offset: 0 },
    ],
  });
  const unknown = await execInTerminal(box, ["ssh", "host"], { terminal: true });
  expect(unknown.needsInput).toEqual({ kind: "unknown" });
  expect((await unknown.read()).needsInput).toEqual({ kind: "no", idle_shell: true });
});

test("at its time limit a command is ended, but after an answer it keeps running", async () => {
  const { box, paramsOf } = boxWith({
    waits: [asks("key", 0), timedOut, timedOut, exits(0)],
    outputs: [[opened(0)], [opened(0)], [opened(0)]],
  });
  const asked = await execInTerminal(box, ["less"], { terminal: true });
  const running = await asked.send({ text: "q" }, 60);
  expect(running).toMatchObject({ needsInput: undefined, exit: undefined });
  expect(await running.kill(5)).toEqual({ signal: "SIGHUP" });
  const ended = await execInTerminal(box, ["sleep"], { terminal: true, timeout: 60 });
  expect(ended.exit).toEqual({ code: 0, timed_out: true });
  expect(paramsOf("terminal.kill")).toMatchObject([
    { id: running.id, instance: "i", grace: 5 },
    { id: ended.id, instance: "i" },
  ]);
});

test("only the end of long output is kept, and output that the server dropped is missing", async () => {
  const { box } = boxWith({
    waits: [asks("line", 9), exits(1006)],
    outputs: [
      [opened(0), data(0, "abc"), data(3, "def"), data(6, "ghi")],
      [opened(1000), { event: "data", kind: 3, offset: 0, bytes: bytes("screen") }, data(1000, "uvwxyz")],
    ],
    states: [{ start: 0 }, { start: 500 }],
  });
  const asked = await execInTerminal(box, ["x"], { terminal: true, max_output: 4 });
  expect(asked).toMatchObject({ text: "fghi", missing: 5 });
  expect(await asked.read()).toMatchObject({ text: "wxyz", missing: 993 });
});

test("after a lost connection, the wait and the output continue", async () => {
  const { box, paramsOf } = boxWith({
    waits: [interrupted("terminal.wait"), exits(6)],
    outputs: [
      [opened(0), data(0, "abc"), interrupted("terminal.attach")],
      [opened(3), data(3, "def")],
    ],
  });
  expect((await execInTerminal(box, ["x"], { terminal: true })).text).toBe("abcdef");
  expect(paramsOf("terminal.attach").map(({ since }) => since)).toEqual([0, 3]);
});

test("after a lost connection, only the time that is left is waited for", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { box, paramsOf } = boxWith({
    waits: [interrupted("terminal.wait"), exits(0)],
    outputs: [[opened(0)]],
    onWait: () => vi.advanceTimersByTime(20_000),
  });
  await execInTerminal(box, ["x"], { terminal: true, timeout: 60 });
  expect(paramsOf("terminal.wait").map(({ timeout }) => timeout)).toEqual([60, 40]);
});

test("a time limit that is not above 0 is refused before anything is sent", async () => {
  const { box, called } = boxWith({ waits: [asks("line", 0)], outputs: [[opened(0)]] });
  const asked = await execInTerminal(box, ["x"], { terminal: true });
  const before = called.length;
  for (const timeout of [0, -1, Number.NaN]) {
    const refused = {
      code: "invalid_params",
      message: `timeout is ${timeout}; more than 0 seconds are allowed`,
    };
    await expect(execInTerminal(box, ["x"], { terminal: true, timeout })).rejects.toMatchObject(refused);
    await expect(asked.send({ text: "x" }, timeout)).rejects.toMatchObject(refused);
    await expect(asked.read(timeout)).rejects.toMatchObject(refused);
  }
  expect(called).toHaveLength(before);
});

test("a terminal that may have been created is ended", async () => {
  const { box, paramsOf } = boxWith({ waits: [], outputs: [], refusals: [interrupted("terminal.create")] });
  await expect(execInTerminal(box, ["x"], { terminal: true })).rejects.toThrow("lost");
  expect(paramsOf("terminal.kill")).toEqual(paramsOf("terminal.create").map(({ id }) => ({ id })));
});

test("without bash, sh runs a command line; other failures are thrown", async () => {
  const missing = () => new HawseError("spawn_failed", "program not found: /bin/bash");
  const { box, paramsOf } = boxWith({ waits: [exits(0)], outputs: [[opened(0)]], refusals: [missing()] });
  await execInTerminal(box, "true", { terminal: true });
  expect(paramsOf("terminal.create").map(({ argv }) => argv)).toEqual([
    ["/bin/bash", "-c", "true"],
    ["/bin/sh", "-c", "true"],
  ]);
  const refused = boxWith({ waits: [], outputs: [], refusals: [missing()] });
  await expect(execInTerminal(refused.box, ["nope"], { terminal: true })).rejects.toThrow("not found");
});

test("a command whose output cannot be read is ended", async () => {
  const gone = new HawseError("not_found", "gone");
  const { box, paramsOf } = boxWith({ waits: [FOREVER], outputs: [[gone]] });
  await expect(execInTerminal(box, ["x"], { terminal: true })).rejects.toBe(gone);
  expect(paramsOf("terminal.kill")).toHaveLength(1);
  expect(paramsOf("cancel")).toHaveLength(1);
});
