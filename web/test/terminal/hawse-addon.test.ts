import { Terminal } from "@xterm/headless";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HawseAddon } from "../../src/terminal/hawse-addon";
import type { FakeTerminal } from "../fakes/fake-terminal";
import { makeHarness } from "../fakes/harness";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const typed = (terminal: FakeTerminal) => new TextDecoder().decode(Uint8Array.from(terminal.typed));

function load(options = {}) {
  const { client, gateway, runUntilIdle } = makeHarness();
  const terminal = new Terminal({ cols: 90, rows: 20, allowProposedApi: true });
  const addon = new HawseAddon(client, options);
  const errors: string[] = [];
  addon.onError(({ code }) => errors.push(code));
  client.connect();
  terminal.loadAddon(addon as never);
  return { client, gateway, runUntilIdle, terminal, addon, errors };
}

test("a loaded add-on starts the terminal in the emulator's size and attaches to it", async () => {
  const { gateway, runUntilIdle, addon } = load({ id: "work" });
  gateway.terminal("work");
  await runUntilIdle(200);
  expect(gateway.calls[0]).toMatchObject({
    method: "terminal.create",
    sandbox: "local",
    params: { id: "work", cols: 90, rows: 20 },
  });
  expect(addon.channel?.state.phase).toBe("live");
  expect(gateway.violations).toEqual([]);
});

test("what is typed arrives, until the terminal is disposed", async () => {
  const { gateway, runUntilIdle, terminal } = load();
  const main = gateway.terminal("main");
  await runUntilIdle(200);
  terminal.input("ls\r");
  await runUntilIdle(200);
  expect(typed(main)).toBe("ls\r");
  terminal.dispose();
  terminal.input("more");
  await runUntilIdle(200);
  expect(typed(main)).toBe("ls\r");
});

test.each([
  ["forbidden", "live", []],
  ["spawn_failed", "detached", ["spawn_failed"]],
])("a terminal that cannot be started for %s: %s", async (code, phase, expected) => {
  const { gateway, runUntilIdle, addon, errors } = load();
  gateway.terminal("main");
  gateway.respond = ({ method }) =>
    method === "terminal.create"
      ? { error: { code, message: "no", retryable: false, admitted: "no" } }
      : { value: {} };
  await runUntilIdle(200);
  expect([addon.channel?.state.phase, errors]).toEqual([phase, expected]);
});
