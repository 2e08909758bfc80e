import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Bench, bench } from "../fakes/bench";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const bytes = (text: string) => new TextEncoder().encode(text);
const shown = ({ sink }: Bench) => new TextDecoder().decode(Uint8Array.from(sink.bytes));

async function attached(options?: Parameters<typeof bench>[0]): Promise<Bench> {
  const made = bench(options);
  made.gateway.terminal("main");
  made.client.connect();
  made.channel.attach();
  await made.settle();
  return made;
}

test("it attaches with an input id, and continues from its offset on the next connection", async () => {
  const made = await attached();
  made.gateway.terminal("main").print(bytes("hello"));
  await made.settle();
  made.gateway.socket.cut();
  await made.settle(1_000);
  const [first, second] = made.gateway.calls.map(call => call.params as Record<string, unknown>);
  expect(first).toEqual({ id: "main", input: made.channel.input.id, emulator: true });
  expect(second).toEqual({ ...first, instance: "main-1", since: 5 });
  expect(shown(made)).toBe("hello");
});

test("a resize takes effect at its byte", async () => {
  const made = await attached();
  const terminal = made.gateway.terminal("main");
  terminal.print(bytes("abc"));
  terminal.resize(100, 30);
  terminal.print(bytes("def"));
  await made.settle();
  expect(made.sink.log).toContain("resize 100x30 at 3");
});

test("replies pass only after the replay and only if this viewer was chosen", async () => {
  const made = await attached();
  expect(made.sink.log).toEqual(["gate closed", "reset 80x24", "gate closed"]);
  const say = (value: object) => {
    const message = { type: "event", ch: 1, name: "answers", value };
    made.gateway.socket.toClient.push(JSON.stringify(message));
  };
  say({ answers: true });
  await made.settle();
  expect(made.sink.gateOpen).toBe(true);
  say({ answers: false });
  await made.settle();
  expect(made.sink.gateOpen).toBe(false);
});

test("an interrupted snapshot is requested again from the start", async () => {
  const made = bench();
  made.gateway.slice = 4;
  const terminal = made.gateway.terminal("main");
  terminal.print(bytes("gone"));
  terminal.start = 4;
  made.client.connect();
  made.channel.attach();
  await vi.advanceTimersByTimeAsync(0);
  made.gateway.socket.deliver("toServer");
  made.gateway.socket.deliver("toClient");
  await vi.advanceTimersByTimeAsync(0);
  made.gateway.socket.deliver("toServer");
  made.gateway.pump();
  made.gateway.socket.deliver("toClient", 3);
  expect(shown(made)).toBe("<scr");
  made.gateway.socket.cut();
  await made.settle(1_000);
  expect(made.gateway.calls.at(-1)?.params).not.toHaveProperty("since");
  expect(shown(made)).toBe("<screen at 4>");
});

test("after a snapshot the offset is the output's", async () => {
  const made = await attached();
  const terminal = made.gateway.terminal("main");
  terminal.print(bytes("0123456789"));
  made.gateway.reseed();
  terminal.print(bytes("after"));
  await made.settle();
  expect(made.channel.offset).toBe(15);
  expect(shown(made)).toBe("<screen at 10>after");
});

test("the last output precedes the end, which has the exit status", async () => {
  const made = await attached();
  const terminal = made.gateway.terminal("main");
  terminal.print(bytes("bye"));
  terminal.exit = { code: 3, signal: null };
  await made.settle();
  expect(shown(made)).toBe("bye");
  expect(made.channel.state).toEqual({ phase: "ended", why: "exited", exit: { code: 3, signal: null } });
  expect(made.channel.send(bytes("x"))).toBe(false);
});

test("a shell that ends during a connection loss delivers its output and exit status", async () => {
  const made = await attached();
  const terminal = made.gateway.terminal("main");
  terminal.print(bytes("one "));
  await made.settle();
  made.gateway.socket.cut();
  terminal.print(bytes("two"));
  terminal.exit = { code: null, signal: "SIGKILL" };
  await made.settle(1_000);
  expect(shown(made)).toBe("one two");
  expect(made.channel.state).toMatchObject({ why: "exited", exit: { signal: "SIGKILL" } });
});

test("a replaced instance ends the terminal and receives no input", async () => {
  const made = await attached();
  made.gateway.socket.cut();
  made.channel.send(bytes("rm -rf x"));
  const terminal = made.gateway.terminal("main");
  terminal.instance = "main-2";
  await made.settle(1_000);
  expect(made.channel.state).toEqual({ phase: "ended", why: "replaced" });
  made.channel.follow();
  await made.settle();
  expect(made.channel.state.phase).toBe("live");
  expect(terminal.typed).toEqual([]);
});

test("a new instance starts on a new screen, and a new attach to the same instance on an empty one", async () => {
  const made = await attached();
  const terminal = made.gateway.terminal("main");
  terminal.exit = { code: 0, signal: null };
  await made.settle();
  const cleared = () => made.sink.log.filter(entry => entry.startsWith("reset") || entry.startsWith("new"));
  made.channel.follow();
  await made.settle();
  expect(cleared()).toEqual(["reset 80x24", "reset 80x24"]);
  terminal.instance = "main-2";
  made.channel.follow();
  await made.settle();
  expect(cleared()).toEqual(["reset 80x24", "reset 80x24", "new screen 80x24"]);
});

test("a terminal that no longer exists is gone", async () => {
  const made = await attached();
  made.gateway.socket.cut();
  made.gateway.terminals.clear();
  await made.settle(1_000);
  expect(made.channel.state).toEqual({ phase: "ended", why: "gone" });
});

test.each(["unavailable", "interrupted", "input_overflow", "limit_exceeded", "input_gap"])(
  "%s on the channel attaches again on the same connection",
  async code => {
    const made = await attached();
    made.gateway.terminal("main").print(bytes("abc"));
    made.channel.send(bytes("keys"));
    await made.settle();
    const retryable = code !== "input_gap";
    const message = { type: "error", ch: 1, code, message: "", retryable, admitted: "unknown" };
    made.gateway.socket.toClient.push(JSON.stringify(message));
    made.gateway.socket.deliver("toClient");
    expect(made.channel.state.phase).toBe("attaching");
    made.channel.send(bytes(" more"));
    await made.settle(500);
    expect(made.channel.state.phase).toBe("live");
    expect(made.gateway.sockets).toHaveLength(1);
    expect(Buffer.from(made.gateway.terminal("main").typed).toString()).toBe("keys more");
    expect(shown(made)).toBe("abc");
  },
);

test("any other error is a failure with its reason", async () => {
  const made = await attached();
  const message = { type: "error", ch: 1, code: "forbidden", message: "", retryable: false, admitted: "no" };
  made.gateway.socket.toClient.push(JSON.stringify(message));
  await made.settle(5_000);
  expect(made.channel.state).toMatchObject({ phase: "failed", reason: { code: "forbidden" } });
});

test("when the server no longer knows the input stream, a new one starts and onInputLost fires", async () => {
  const made = await attached();
  const lost: number[] = [];
  made.channel.onInputLost(count => lost.push(count));
  made.channel.send(bytes("abc"));
  await made.settle();
  const old = made.channel.input.id;
  made.gateway.terminal("main").inputs.clear();
  made.gateway.socket.cut();
  made.channel.send(bytes("de"));
  await made.settle(1_000);
  expect(lost).toEqual([2]);
  expect(made.channel.input.id).not.toBe(old);
  made.channel.send(bytes("fg"));
  await made.settle();
  expect(Buffer.from(made.gateway.terminal("main").typed).toString()).toBe("abcfg");
});

test("a large paste is sent within the credit, in frames of at most 64 KiB, and arrives whole", async () => {
  const made = await attached();
  const paste = Uint8Array.from({ length: 1_000_003 }, (_, i) => i % 251);
  made.channel.send(paste);
  await made.settle();
  expect(made.gateway.faults).toEqual([]);
  expect(Buffer.from(made.gateway.terminal("main").typed).equals(paste)).toBe(true);
});

test("the emulator never has more than the window unparsed", async () => {
  const made = await attached({ window: 1_000 });
  made.gateway.terminal("main").print(new Uint8Array(5_000));
  made.gateway.settle();
  expect(made.sink.bytes.length).toBeLessThanOrEqual(1_000);
  await made.settle(1_000);
  expect(made.sink.bytes.length).toBe(5_000);
});

test("after detaching, nothing of the channel arrives", async () => {
  const made = await attached();
  made.channel.detach();
  made.gateway.terminal("main").print(bytes("unseen"));
  await made.settle(1_000);
  expect(shown(made)).toBe("");
  expect(made.channel.state.phase).toBe("detached");
  made.channel.attach();
  await made.settle();
  expect(shown(made)).toBe("unseen");
});

test("input rejected by another viewer's lease is dropped, reported, and never sent again", async () => {
  const made = await attached();
  const refused: number[] = [];
  made.channel.onInputRefused(bytes => refused.push(bytes));
  made.gateway.terminal("main").print(bytes("abc"));
  made.channel.send(bytes("early"));
  await made.settle();
  const { id } = made.channel.input;
  made.channel.send(bytes("late"));
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
  made.gateway.socket.toClient.push(JSON.stringify(message));
  made.gateway.socket.toServer.length = 0;
  made.gateway.socket.deliver("toClient");
  expect(refused).toEqual([4]);
  await made.settle(500);
  expect(made.channel.state.phase).toBe("live");
  expect(made.channel.input.id).not.toBe(id);
  expect(made.gateway.calls.at(-1)?.params).toMatchObject({ since: 3, input: made.channel.input.id });
  expect(shown(made)).toBe("abc");
});

test("events update the list of viewers", async () => {
  const made = await attached();
  made.gateway.socket.toClient.push(
    JSON.stringify({ type: "event", ch: 1, name: "joined", value: { viewer: { id: "v2", name: "Bob" } } }),
  );
  await made.settle();
  expect(made.channel.people.others).toEqual([{ id: "v2", name: "Bob" }]);
});
