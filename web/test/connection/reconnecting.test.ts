import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Line, type LineState } from "../../src/connection/reconnecting";
import { CONNECT_TIMEOUT } from "../../src/connection/websocket";
import { HawseError } from "../../src/wire/errors";
import { FakeGateway } from "../fakes/fake-gateway";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function make(options: { token?: string | undefined; ticket?: () => Promise<string> } = {}) {
  const gateway = new FakeGateway();
  const states: LineState[] = [];
  const line = new Line({
    base: new URL("http://gateway.test/"),
    client: "test",
    window: 1_000,
    token: "token" in options ? options.token : "secret",
    ticket: options.ticket ?? (async () => "ticket"),
    openSocket: gateway.openSocket,
    random: () => 1,
  });
  line.onState(state => states.push(state));
  return { gateway, line, states, phases: () => states.map(state => state.phase) };
}

async function up({ gateway, line }: ReturnType<typeof make>): Promise<void> {
  line.connect();
  await vi.advanceTimersByTimeAsync(0);
  gateway.settle();
}

test("it connects, and is live when it is welcomed", async () => {
  const made = make();
  made.line.connect();
  await vi.advanceTimersByTimeAsync(0);
  expect(made.phases()).toEqual(["connecting"]);
  made.gateway.settle();
  expect(made.phases()).toEqual(["connecting", "live"]);
});

test("a broken line is tried again at once", async () => {
  const made = make();
  await up(made);
  made.gateway.socket.cut();
  expect(made.line.state).toMatchObject({ phase: "waiting", reason: { code: "unavailable" } });
  await vi.advanceTimersByTimeAsync(50);
  made.gateway.settle();
  expect(made.line.state.phase).toBe("live");
  expect(made.gateway.sockets).toHaveLength(2);
});

test("a gateway that greets and falls over is asked less and less often", async () => {
  const made = make();
  await up(made);
  const waits: number[] = [];
  for (let i = 0; i < 5; i++) {
    made.gateway.socket.cut();
    const { state } = made.line;
    if (state.phase !== "waiting") throw new Error(state.phase);
    waits.push(state.retryAt - Date.now());
    await vi.advanceTimersByTimeAsync(state.retryAt - Date.now());
    made.gateway.settle();
  }
  expect(waits).toEqual([50, 200, 400, 800, 1_600]);
});

test("a wake-up does not wait for the backoff", async () => {
  const made = make();
  await up(made);
  made.gateway.socket.cut();
  made.line.wake();
  await vi.advanceTimersByTimeAsync(0);
  made.gateway.settle();
  expect(made.line.state.phase).toBe("live");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(made.gateway.sockets).toHaveLength(2);
});

test("a line that died in the laptop's sleep is found out soon after a wake-up", async () => {
  const made = make();
  await up(made);
  made.line.wake();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(made.line.state.phase).toBe("waiting");
});

test("without a token it asks for one, and with one it connects", async () => {
  const made = make({ token: undefined });
  made.line.connect();
  expect(made.line.state).toEqual({ phase: "signed-out" });
  made.line.signIn("secret");
  await vi.advanceTimersByTimeAsync(0);
  made.gateway.settle();
  expect(made.line.state.phase).toBe("live");
});

test("a refused token signs out, whether the ticket or the socket tells", async () => {
  const refused = make({
    ticket: async () => {
      throw new HawseError("unauthenticated", "no");
    },
  });
  refused.line.connect();
  await vi.advanceTimersByTimeAsync(0);
  expect(refused.line.state).toMatchObject({ phase: "signed-out", reason: { code: "unauthenticated" } });

  const closed = make();
  await up(closed);
  closed.gateway.socket.cut(4401);
  expect(closed.line.state).toMatchObject({ phase: "signed-out", reason: { code: "unauthenticated" } });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(closed.gateway.sockets).toHaveLength(1);
});

test.each([1007, 1008, 1009, 4403])("close code %i stops for good, until somebody asks", async code => {
  const made = make();
  await up(made);
  made.gateway.socket.cut(code);
  expect(made.line.state.phase).toBe("failed");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(made.gateway.sockets).toHaveLength(1);
  made.line.retryNow();
  await vi.advanceTimersByTimeAsync(0);
  made.gateway.settle();
  expect(made.line.state.phase).toBe("live");
});

test("the error before the close says why", async () => {
  const made = make();
  await up(made);
  const error = { type: "error", code: "credit_exceeded", message: "m", retryable: false, admitted: "no" };
  made.gateway.socket.toClient.push(JSON.stringify(error));
  made.gateway.settle();
  made.gateway.socket.cut(1008);
  expect(made.line.state).toMatchObject({ phase: "failed", reason: { code: "credit_exceeded" } });
});

test("goaway is obeyed: not before, and not all at the same moment", async () => {
  const made = make();
  await up(made);
  made.gateway.socket.toClient.push('{"type":"goaway","reason":"restart","retry_after":2}');
  made.gateway.settle();
  made.gateway.socket.cut(1012);
  await vi.advanceTimersByTimeAsync(2_249);
  expect(made.gateway.sockets).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(made.gateway.sockets).toHaveLength(2);
});

test("too much means later", async () => {
  const made = make();
  await up(made);
  made.gateway.socket.cut(4429);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(made.gateway.sockets).toHaveLength(1);
});

test("a gateway that never answers is given up and tried again", async () => {
  const made = make({ ticket: () => new Promise(() => {}) });
  made.line.connect();
  await vi.advanceTimersByTimeAsync(CONNECT_TIMEOUT);
  expect(made.line.state.phase).toBe("waiting");
});

test("a server that breaks the protocol is hung up on", async () => {
  const made = make();
  await up(made);
  made.gateway.socket.toClient.push("{}");
  made.gateway.settle();
  expect(made.line.state).toMatchObject({ phase: "failed", reason: { code: "invalid_message" } });
  expect(made.gateway.socket.closeCode).toBe(3_008);
});

test("after close nothing stirs", async () => {
  const made = make();
  await up(made);
  made.line.close();
  made.line.retryNow();
  made.line.wake();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(made.line.state.phase).toBe("closed");
  expect(made.gateway.sockets).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});
