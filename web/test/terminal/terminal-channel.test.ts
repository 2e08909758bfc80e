import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Harness, makeHarness } from "../fakes/harness";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const bytes = (text: string) => new TextEncoder().encode(text);
const shown = ({ sink }: Harness) => new TextDecoder().decode(Uint8Array.from(sink.bytes));

async function attached(options?: Parameters<typeof makeHarness>[0]): Promise<Harness> {
  const harness = makeHarness(options);
  harness.gateway.terminal("main");
  harness.client.connect();
  harness.channel.attach();
  await harness.runUntilIdle();
  return harness;
}

test("it attaches with an input id, and continues from its offset on the next connection", async () => {
  const harness = await attached();
  harness.gateway.terminal("main").print(bytes("hello"));
  await harness.runUntilIdle();
  harness.gateway.socket.cut();
  await harness.runUntilIdle(1_000);
  const [first, second] = harness.gateway.calls.map(call => call.params as Record<string, unknown>);
  expect(first).toEqual({ id: "main", input: harness.channel.input.id, emulator: true });
  expect(second).toEqual({ ...first, instance: "main-1", since: 5 });
  expect(shown(harness)).toBe("hello");
});

test("input that was queued is reported once, and input after the end is not", async () => {
  const harness = await attached();
  const reported: string[] = [];
  harness.channel.onInput(input => reported.push(new TextDecoder().decode(input)));
  harness.channel.send(bytes("ls"));
  await harness.runUntilIdle();
  harness.gateway.socket.cut();
  await harness.runUntilIdle(1_000);
  harness.channel.detach();
  harness.channel.send(bytes("lost"));
  expect(reported).toEqual(["ls"]);
});

test("a resize takes effect at its byte", async () => {
  const harness = await attached();
  const terminal = harness.gateway.terminal("main");
  terminal.print(bytes("abc"));
  terminal.resize(100, 30);
  terminal.print(bytes("def"));
  await harness.runUntilIdle();
  expect(harness.sink.log).toContain("resize 100x30 at 3");
});

test("replies pass only after the replay and only if this viewer was chosen", async () => {
  const harness = await attached();
  expect(harness.sink.log).toEqual(["gate closed", "reset 80x24", "gate closed"]);
  const sendEvent = (value: object) => {
    const message = { type: "event", ch: 1, name: "answers", value };
    harness.gateway.socket.toClient.push(JSON.stringify(message));
  };
  sendEvent({ answers: true });
  await harness.runUntilIdle();
  expect(harness.sink.gateOpen).toBe(true);
  sendEvent({ answers: false });
  await harness.runUntilIdle();
  expect(harness.sink.gateOpen).toBe(false);
});

test("the waiting state is reported, and forgotten at the end", async () => {
  const harness = await attached();
  const kinds: string[] = [];
  harness.channel.onWaiting(({ kind }) => kinds.push(kind));
  const value = { kind: "secret", prompt: "Password:" };
  harness.gateway.socket.toClient.push(JSON.stringify({ type: "event", ch: 1, name: "waiting", value }));
  await harness.runUntilIdle();
  expect(kinds).toEqual(["secret"]);
  expect(harness.channel.waiting).toEqual(value);
  harness.gateway.terminal("main").exit = { code: 0, signal: null };
  await harness.runUntilIdle();
  expect(harness.channel.waiting).toBeUndefined();
});

test("an interrupted snapshot is requested again from the start", async () => {
  const harness = makeHarness();
  harness.gateway.maxFrame = 4;
  const terminal = harness.gateway.terminal("main");
  terminal.print(bytes("gone"));
  terminal.start = 4;
  harness.client.connect();
  harness.channel.attach();
  await vi.advanceTimersByTimeAsync(0);
  harness.gateway.socket.deliver("toServer");
  harness.gateway.socket.deliver("toClient");
  await vi.advanceTimersByTimeAsync(0);
  harness.gateway.socket.deliver("toServer");
  harness.gateway.pump();
  harness.gateway.socket.deliver("toClient", 3);
  expect(shown(harness)).toBe("<scr");
  harness.gateway.socket.cut();
  await harness.runUntilIdle(1_000);
  expect(harness.gateway.calls.at(-1)?.params).not.toHaveProperty("since");
  expect(shown(harness)).toBe("<screen at 4>");
});

test("after a snapshot the offset is the output's", async () => {
  const harness = await attached();
  const terminal = harness.gateway.terminal("main");
  terminal.print(bytes("0123456789"));
  harness.gateway.reseed();
  terminal.print(bytes("after"));
  await harness.runUntilIdle();
  expect(harness.channel.offset).toBe(15);
  expect(shown(harness)).toBe("<screen at 10>after");
});

test("the last output precedes the end, which has the exit status", async () => {
  const harness = await attached();
  const terminal = harness.gateway.terminal("main");
  terminal.print(bytes("bye"));
  terminal.exit = { code: 3, signal: null };
  await harness.runUntilIdle();
  expect(shown(harness)).toBe("bye");
  expect(harness.channel.state).toEqual({ phase: "ended", why: "exited", exit: { code: 3, signal: null } });
  expect(harness.channel.send(bytes("x"))).toBe(false);
});

test("a shell that ends during a connection loss delivers its output and exit status", async () => {
  const harness = await attached();
  const terminal = harness.gateway.terminal("main");
  terminal.print(bytes("one "));
  await harness.runUntilIdle();
  harness.gateway.socket.cut();
  terminal.print(bytes("two"));
  terminal.exit = { code: null, signal: "SIGKILL" };
  await harness.runUntilIdle(1_000);
  expect(shown(harness)).toBe("one two");
  expect(harness.channel.state).toMatchObject({ why: "exited", exit: { signal: "SIGKILL" } });
});

test("a replaced instance ends the terminal and receives no input", async () => {
  const harness = await attached();
  harness.gateway.socket.cut();
  harness.channel.send(bytes("rm -rf x"));
  const terminal = harness.gateway.terminal("main");
  terminal.instance = "main-2";
  await harness.runUntilIdle(1_000);
  expect(harness.channel.state).toEqual({ phase: "ended", why: "replaced" });
  harness.channel.follow();
  await harness.runUntilIdle();
  expect(harness.channel.state.phase).toBe("live");
  expect(terminal.typed).toEqual([]);
});

test("a new instance starts on a new screen, and a new attach to the same instance on an empty one", async () => {
  const harness = await attached();
  const terminal = harness.gateway.terminal("main");
  terminal.exit = { code: 0, signal: null };
  await harness.runUntilIdle();
  const cleared = () =>
    harness.sink.log.filter(entry => entry.startsWith("reset") || entry.startsWith("new"));
  harness.channel.follow();
  await harness.runUntilIdle();
  expect(cleared()).toEqual(["reset 80x24", "reset 80x24"]);
  terminal.instance = "main-2";
  harness.channel.follow();
  await harness.runUntilIdle();
  expect(cleared()).toEqual(["reset 80x24", "reset 80x24", "new screen 80x24"]);
});

test("a terminal that no longer exists is gone", async () => {
  const harness = await attached();
  harness.gateway.socket.cut();
  harness.gateway.terminals.clear();
  await harness.runUntilIdle(1_000);
  expect(harness.channel.state).toEqual({ phase: "ended", why: "gone" });
});

test.each(["unavailable", "interrupted", "input_overflow", "limit_exceeded", "input_gap"])(
  "%s on the channel attaches again on the same connection",
  async code => {
    const harness = await attached();
    harness.gateway.terminal("main").print(bytes("abc"));
    harness.channel.send(bytes("keys"));
    await harness.runUntilIdle();
    const retryable = code !== "input_gap";
    const message = { type: "error", ch: 1, code, message: "", retryable, admitted: "unknown" };
    harness.gateway.socket.toClient.push(JSON.stringify(message));
    harness.gateway.socket.deliver("toClient");
    expect(harness.channel.state.phase).toBe("attaching");
    harness.channel.send(bytes(" more"));
    await harness.runUntilIdle(500);
    expect(harness.channel.state.phase).toBe("live");
    expect(harness.gateway.sockets).toHaveLength(1);
    expect(Buffer.from(harness.gateway.terminal("main").typed).toString()).toBe("keys more");
    expect(shown(harness)).toBe("abc");
  },
);

test("any other error is a failure with its reason", async () => {
  const harness = await attached();
  const message = { type: "error", ch: 1, code: "forbidden", message: "", retryable: false, admitted: "no" };
  harness.gateway.socket.toClient.push(JSON.stringify(message));
  await harness.runUntilIdle(5_000);
  expect(harness.channel.state).toMatchObject({ phase: "failed", reason: { code: "forbidden" } });
});

test("when the server no longer knows the input stream, a new one starts and onInputLost fires", async () => {
  const harness = await attached();
  const lost: number[] = [];
  harness.channel.onInputLost(count => lost.push(count));
  harness.channel.send(bytes("abc"));
  await harness.runUntilIdle();
  const old = harness.channel.input.id;
  harness.gateway.terminal("main").inputs.clear();
  harness.gateway.socket.cut();
  harness.channel.send(bytes("de"));
  await harness.runUntilIdle(1_000);
  expect(lost).toEqual([2]);
  expect(harness.channel.input.id).not.toBe(old);
  harness.channel.send(bytes("fg"));
  await harness.runUntilIdle();
  expect(Buffer.from(harness.gateway.terminal("main").typed).toString()).toBe("abcfg");
});

test("a large paste is sent within the credit, in frames of at most 64 KiB, and arrives whole", async () => {
  const harness = await attached();
  const paste = Uint8Array.from({ length: 1_000_003 }, (_, i) => i % 251);
  harness.channel.send(paste);
  await harness.runUntilIdle();
  expect(harness.gateway.violations).toEqual([]);
  expect(Buffer.from(harness.gateway.terminal("main").typed).equals(paste)).toBe(true);
});

test("the emulator never has more than the window unparsed", async () => {
  const harness = await attached({ window: 1_000 });
  harness.gateway.terminal("main").print(new Uint8Array(5_000));
  harness.gateway.deliverAll();
  expect(harness.sink.bytes.length).toBeLessThanOrEqual(1_000);
  await harness.runUntilIdle(1_000);
  expect(harness.sink.bytes.length).toBe(5_000);
});

test("after detaching, nothing of the channel arrives", async () => {
  const harness = await attached();
  harness.channel.detach();
  harness.gateway.terminal("main").print(bytes("unseen"));
  await harness.runUntilIdle(1_000);
  expect(shown(harness)).toBe("");
  expect(harness.channel.state.phase).toBe("detached");
  harness.channel.attach();
  await harness.runUntilIdle();
  expect(shown(harness)).toBe("unseen");
});

test("input rejected by another viewer's lease is dropped, reported, and never sent again", async () => {
  const harness = await attached();
  const refused: number[] = [];
  harness.channel.onInputRefused(bytes => refused.push(bytes));
  harness.gateway.terminal("main").print(bytes("abc"));
  harness.channel.send(bytes("early"));
  await harness.runUntilIdle();
  const { id } = harness.channel.input;
  harness.channel.send(bytes("late"));
  const details = { applied: 5, mode: "exclusive", holder: "v2", epoch: 1 };
  const message = {
    type: "error",
    ch: 1,
    code: "lease_held",
    message: "",
    retryable: false,
    admitted: "no",
    details,
  };
  harness.gateway.socket.toClient.push(JSON.stringify(message));
  harness.gateway.socket.toServer.length = 0;
  harness.gateway.socket.deliver("toClient");
  expect(refused).toEqual([4]);
  await harness.runUntilIdle(500);
  expect(harness.channel.state.phase).toBe("live");
  expect(harness.channel.input.id).not.toBe(id);
  expect(harness.gateway.calls.at(-1)?.params).toMatchObject({ since: 3, input: harness.channel.input.id });
  expect(shown(harness)).toBe("abc");
});

test("events update the list of viewers", async () => {
  const harness = await attached();
  harness.gateway.socket.toClient.push(
    JSON.stringify({ type: "event", ch: 1, name: "joined", value: { viewer: { id: "v2", name: "Bob" } } }),
  );
  await harness.runUntilIdle();
  expect(harness.channel.people.others).toEqual([{ id: "v2", name: "Bob" }]);
});
