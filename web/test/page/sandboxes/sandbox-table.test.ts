import { expect, test } from "vitest";
import type { ChannelHandlers } from "../../../src/client/channels";
import {
  actionsFor,
  describeSandbox,
  describeState,
  parsePairs,
  SandboxTable,
} from "../../../src/page/sandboxes/sandbox-table";
import { HawseError, interrupted } from "../../../src/wire/errors";
import type { SandboxInfo } from "../../../src/wire/methods";

const sandbox = (id: string, more: Partial<SandboxInfo> = {}): SandboxInfo => ({
  id,
  state: "running",
  created: 1,
  ...more,
});

function table() {
  const opened: ChannelHandlers[] = [];
  let up = () => {};
  let cancelled = 0;
  let consumed = 0;
  let changes = 0;
  const source = {
    open: (_method: string, _options: object, handlers: ChannelHandlers) => {
      opened.push(handlers);
      return {
        inputCredit: 0,
        input: () => {},
        end: () => {},
        cancel: () => {
          cancelled++;
        },
        consume: (bytes: number) => {
          consumed += bytes;
        },
      };
    },
    onUp: (listener: () => void) => {
      up = listener;
      return {
        dispose: () => {
          up = () => {};
        },
      };
    },
  };
  const sandboxes = new SandboxTable(source, () => {
    changes++;
  });
  return {
    sandboxes,
    opened,
    ids: () => sandboxes.sandboxes.map(({ id }) => id),
    send: (name: string, value: unknown = {}) => opened.at(-1)?.event?.(name, value, 10),
    fail: (error: HawseError) => opened.at(-1)?.error(error),
    reconnect: () => up(),
    counts: () => ({ cancelled, consumed, changes }),
  };
}

test("sandboxes are listed from the oldest on, and changed and removed by events", () => {
  const { sandboxes, ids, send, counts } = table();
  send("changed", sandbox("b", { created: 2 }));
  send("changed", sandbox("c", { created: 1 }));
  send("changed", sandbox("a", { created: 2 }));
  expect(sandboxes.complete).toBe(false);
  send("live");
  expect(sandboxes.complete).toBe(true);
  expect(ids()).toEqual(["c", "a", "b"]);
  send("changed", sandbox("a", { created: 2, state: "stopped" }));
  expect(sandboxes.sandboxes[1]?.state).toBe("stopped");
  send("deleted", { id: "c" });
  expect(ids()).toEqual(["a", "b"]);
  expect(counts()).toEqual({ cancelled: 0, consumed: 60, changes: 6 });
});

test("a sandbox that was deleted while there was no connection is removed when the next watch is live", () => {
  const { ids, send, fail, reconnect, sandboxes } = table();
  send("changed", sandbox("a"));
  send("changed", sandbox("b"));
  send("live");
  fail(interrupted("sandbox.watch"));
  expect(sandboxes.error).toBeUndefined();
  reconnect();
  send("changed", sandbox("b"));
  expect(ids()).toEqual(["a", "b"]);
  send("live");
  expect(ids()).toEqual(["b"]);
});

test("an error of the gateway is kept until the next connection", () => {
  const { sandboxes, fail, reconnect } = table();
  fail(new HawseError("forbidden", "no"));
  expect(sandboxes.error?.code).toBe("forbidden");
  reconnect();
  expect(sandboxes.error).toBeUndefined();
});

test("disposing cancels the watch and does not start another one", () => {
  const { sandboxes, opened, reconnect, counts } = table();
  sandboxes.dispose();
  reconnect();
  expect(opened).toHaveLength(1);
  expect(counts().cancelled).toBe(1);
});

test.each([
  ["running", ["stop", "delete"]],
  ["sleeping", ["stop", "delete"]],
  ["starting", ["stop", "delete"]],
  ["paused", ["resume", "stop", "delete"]],
  ["stopped", ["start", "delete"]],
  ["failed", ["start", "delete"]],
  ["stopping", ["delete"]],
  ["deleting", []],
] as const)("a sandbox that is %s has the actions %j", (state, actions) => {
  expect(actionsFor(sandbox("a", { state }))).toEqual(actions);
});

test("the state of a starting sandbox has its phase and its progress", () => {
  const starting = { state: "starting" as const };
  expect(describeState(sandbox("a"))).toBe("running");
  expect(describeState(sandbox("a", { ...starting, phase: "starting" }))).toBe("starting");
  expect(describeState(sandbox("a", { ...starting, phase: "pulling" }))).toBe("starting: pulling");
  expect(describeState(sandbox("a", { ...starting, phase: "pulling", progress: 0.4 }))).toBe(
    "starting: pulling 40 %",
  );
});

test("a sandbox is described by its isolation, network and image", () => {
  expect(describeSandbox(sandbox("a", { isolation: "none" }))).toEqual(["not isolated"]);
  expect(describeSandbox(sandbox("a", { provider: "joined" }))).toEqual(["joined machine"]);
  expect(
    describeSandbox(
      sandbox("a", { isolation: "bubblewrap", network: "private", image: "debian", template: "t" }),
    ),
  ).toEqual(["bubblewrap", "network private", "debian", "template t"]);
  expect(describeSandbox(sandbox("a", { expires: 0 }))[0]).toMatch(/^deleted at /);
});

test("pairs are parsed from lines, and a wrong line is named", () => {
  expect(parsePairs("A=1\n\n B = x=y \r\nC=")).toEqual({ A: "1", B: " x=y ", C: "" });
  expect(() => parsePairs("A=1\nB")).toThrow('Line 2 is "B"; write NAME=value.');
  expect(() => parsePairs("=1")).toThrow("Line 1");
});
