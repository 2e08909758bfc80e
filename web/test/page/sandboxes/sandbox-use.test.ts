import { expect, test } from "vitest";
import { describeUse, type Use, useOf } from "../../../src/page/sandboxes/sandbox-use";

test.each<[Use, string]>([
  [{ people: [], commands: [] }, ""],
  [{ people: ["Grace"], commands: [] }, "Grace is connected."],
  [{ people: ["Grace", "Ada", "Grace"], commands: [] }, "Grace and Ada are connected."],
  [{ people: [], commands: ["sleep 1000"] }, "sleep 1000 runs in it."],
  [{ people: ["Ada"], commands: ["", "make\ntest"] }, "a command and make run in it, and Ada is connected."],
  [{ people: ["a", "b", "c", "d", "e"], commands: [] }, "a, b, c and 2 more are connected."],
])("the use %j is described as %j", (use, expected) => expect(describeUse(use)).toBe(expected));

test("commands of terminals that have not ended, running processes and other viewers are in use", async () => {
  const histories: Record<string, object> = {
    busy: { commands: [{ line: "sleep 1000" }], reports_commands: true },
    idle: { commands: [{ line: "ls", end: 5 }], reports_commands: true },
    new: { commands: [], reports_commands: true },
    silent: { commands: [], reports_commands: false },
    asking: { commands: [], reports_commands: false },
    prompt: { commands: [], reports_commands: false },
  };
  const box = {
    terminal: {
      list: async () => ({
        terminals: [
          { id: "busy", state: "running" },
          { id: "idle", state: "running" },
          { id: "new", state: "running" },
          { id: "silent", state: "running", waiting: { kind: "no" } },
          { id: "asking", state: "running", waiting: { kind: "line", command: "python3 setup.py" } },
          { id: "prompt", state: "running", waiting: { kind: "no", idle_shell: true } },
          { id: "gone", state: "exited" },
        ],
      }),
      viewers: async () => ({ viewers: [{ viewer: { name: "me" } }, { viewer: { name: "Grace" } }] }),
      history: async ({ id }: { id: string }) => histories[id],
    },
    process: {
      list: async () => ({
        processes: [
          { argv: ["python", "x.py"], state: "running" },
          { argv: ["old"], state: "exited" },
        ],
      }),
    },
  };
  expect(await useOf(box as never, 1)).toEqual({
    people: ["Grace"],
    commands: ["sleep 1000", "", "python3 setup.py", "python x.py"],
  });
});
