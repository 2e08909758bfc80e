import { expect, test } from "vitest";
import { ensureTerminal, Shell } from "../../../src/page/shell/shell";
import { HawseError } from "../../../src/wire/errors";

function make(outcomes: Record<string, HawseError | undefined>, { phase = "live", readOnly = false } = {}) {
  const calls: { method: string; params: Record<string, unknown>; key: string | undefined }[] = [];
  const client = {
    call: async (method: string, params: Record<string, unknown>, request: { key?: string }) => {
      calls.push({ method, params, key: request.key });
      const error = outcomes[method];
      if (error) throw error;
    },
  };
  let follows = 0;
  const channel = {
    address: { sandbox: "local", id: "main" },
    state: { phase },
    people: { readOnly },
    follow: () => follows++,
  };
  const shell = new Shell(client as never, channel as never, "viewer-key", () => ({ cols: 90, rows: 30 }));
  const failures: string[] = [];
  shell.onFailed(error => failures.push(error.code));
  const size = { cols: 80, rows: 24 };
  const join = () => shell.join(ensureTerminal(client as never, channel.address, size));
  return {
    shell,
    join,
    calls,
    failures,
    methods: () => calls.map(({ method }) => method),
    follows: () => follows,
  };
}

const error = (code: string) => new HawseError(code, code);

test("an existing terminal is attached and not created", async () => {
  const { join, methods, follows } = make({});
  await join();
  expect([methods(), follows()]).toEqual([["terminal.get"], 1]);
});

test("a missing terminal is created at the estimated size, a new shell at the fitting one, each time with a new key", async () => {
  const { shell, join, calls, methods, follows } = make({ "terminal.get": error("not_found") });
  await join();
  await shell.start();
  expect([methods(), follows()]).toEqual([["terminal.get", "terminal.create", "terminal.create"], 2]);
  expect(calls[1]?.params).toEqual({ id: "main", cols: 80, rows: 24 });
  expect(calls[2]?.params).toEqual({ id: "main", cols: 90, rows: 30 });
  expect(calls[1]?.key).not.toBe(calls[2]?.key);
});

test("a terminal that cannot be read is reported", async () => {
  const { join, failures, follows } = make({ "terminal.get": error("unavailable") });
  await join();
  expect([failures, follows()]).toEqual([["unavailable"], 0]);
});

test("two starts at once create one terminal", async () => {
  const { shell, methods } = make({});
  await Promise.all([shell.start(), shell.start()]);
  expect(methods()).toEqual(["terminal.create"]);
});

test("a viewer, which may not create, attaches; any other error is reported", async () => {
  const viewer = make({ "terminal.create": error("forbidden") });
  await viewer.shell.start();
  expect([viewer.follows(), viewer.failures]).toEqual([1, []]);
  const failed = make({ "terminal.create": error("spawn_failed") });
  await failed.shell.start();
  expect([failed.follows(), failed.failures]).toEqual([0, ["spawn_failed"]]);
});

test("presence and sizes are sent only while live, and a read-only viewer proposes no size", async () => {
  const live = make({});
  live.shell.updatePresence({ focus: true });
  live.shell.proposeSize({ cols: 1, rows: 1 });
  expect(live.methods()).toEqual(["terminal.presence", "terminal.resize"]);
  const replaying = make({}, { phase: "replaying" });
  replaying.shell.updatePresence({ focus: true });
  expect(replaying.methods()).toEqual([]);
  const viewer = make({}, { readOnly: true });
  viewer.shell.proposeSize({ cols: 1, rows: 1 });
  expect(viewer.methods()).toEqual([]);
});

test("a size is claimed only on request", async () => {
  const { shell, calls } = make({});
  shell.proposeSize({ cols: 1, rows: 1 });
  shell.proposeSize({ cols: 1, rows: 1 }, true);
  expect(calls.map(({ params }) => params.claim)).toEqual([undefined, true]);
});

test("a refused lease is returned as its error", async () => {
  const { shell } = make({ "terminal.lease": error("lease_held") });
  expect(await shell.lease("take")).toMatchObject({ code: "lease_held" });
});
