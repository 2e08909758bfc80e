import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type ConnectionState, ReconnectingConnection } from "../../src/connection/reconnecting";
import { CONNECT_TIMEOUT } from "../../src/connection/websocket";
import { HawseError } from "../../src/wire/errors";
import { FakeGateway } from "../fakes/fake-gateway";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function make(options: { token?: string | undefined; ticket?: () => Promise<string> } = {}) {
  const gateway = new FakeGateway();
  const states: ConnectionState[] = [];
  const connection = new ReconnectingConnection({
    base: new URL("http://gateway.test/"),
    client: "test",
    window: 1_000,
    token: "token" in options ? options.token : "secret",
    ticket: options.ticket ?? (async () => "ticket"),
    openSocket: gateway.openSocket,
    random: () => 1,
  });
  connection.onState(state => states.push(state));
  return { gateway, connection, states, phases: () => states.map(state => state.phase) };
}

async function up({ gateway, connection }: ReturnType<typeof make>): Promise<void> {
  connection.connect();
  await vi.advanceTimersByTimeAsync(0);
  gateway.deliverAll();
}

test("it is live after welcome", async () => {
  const setup = make();
  setup.connection.connect();
  await vi.advanceTimersByTimeAsync(0);
  expect(setup.phases()).toEqual(["connecting"]);
  setup.gateway.deliverAll();
  expect(setup.phases()).toEqual(["connecting", "live"]);
});

test("a lost connection is retried at once", async () => {
  const setup = make();
  await up(setup);
  setup.gateway.socket.cut();
  expect(setup.connection.state).toMatchObject({ phase: "waiting", reason: { code: "unavailable" } });
  await vi.advanceTimersByTimeAsync(50);
  setup.gateway.deliverAll();
  expect(setup.connection.state.phase).toBe("live");
  expect(setup.gateway.sockets).toHaveLength(2);
});

test("the state has the time of the loss until the connection is live again", async () => {
  const setup = make();
  await up(setup);
  await vi.advanceTimersByTimeAsync(5_000);
  const since = Date.now();
  setup.gateway.socket.cut();
  expect(setup.connection.state).toMatchObject({ phase: "waiting", since });
  for (let i = 0; i < 3; i++) {
    const { state } = setup.connection;
    if (state.phase !== "waiting") throw new Error(state.phase);
    await vi.advanceTimersByTimeAsync(state.retryAt - performance.now());
    expect(setup.connection.state).toMatchObject({ phase: "connecting", since });
    setup.gateway.socket.cut();
    expect(setup.connection.state).toMatchObject({ phase: "waiting", since });
  }
});

test("a gateway that fails right after welcome is retried less and less often", async () => {
  const setup = make();
  await up(setup);
  const waits: number[] = [];
  for (let i = 0; i < 5; i++) {
    setup.gateway.socket.cut();
    const { state } = setup.connection;
    if (state.phase !== "waiting") throw new Error(state.phase);
    waits.push(state.retryAt - performance.now());
    await vi.advanceTimersByTimeAsync(state.retryAt - performance.now());
    setup.gateway.deliverAll();
  }
  expect(waits).toEqual([50, 200, 400, 800, 1_600]);
});

test("a resume hint retries without waiting for the backoff", async () => {
  const setup = make();
  await up(setup);
  setup.gateway.socket.cut();
  setup.connection.resumeHint();
  await vi.advanceTimersByTimeAsync(0);
  setup.gateway.deliverAll();
  expect(setup.connection.state.phase).toBe("live");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(setup.gateway.sockets).toHaveLength(2);
});

test("a resume hint detects a dead connection soon", async () => {
  const setup = make();
  await up(setup);
  setup.connection.resumeHint();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(setup.connection.state.phase).toBe("waiting");
});

test("without a token it is signed out, and with one it connects", async () => {
  const setup = make({ token: undefined });
  setup.connection.connect();
  expect(setup.connection.state).toEqual({ phase: "signed-out" });
  setup.connection.signIn("secret");
  await vi.advanceTimersByTimeAsync(0);
  setup.gateway.deliverAll();
  expect(setup.connection.state.phase).toBe("live");
});

test("a rejected token signs out, whether the ticket request or the socket reports it", async () => {
  const refused = make({
    ticket: async () => {
      throw new HawseError("unauthenticated", "no");
    },
  });
  refused.connection.connect();
  await vi.advanceTimersByTimeAsync(0);
  expect(refused.connection.state).toMatchObject({
    phase: "signed-out",
    reason: { code: "unauthenticated" },
  });

  const closed = make();
  await up(closed);
  closed.gateway.socket.cut(4401);
  expect(closed.connection.state).toMatchObject({ phase: "signed-out", reason: { code: "unauthenticated" } });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(closed.gateway.sockets).toHaveLength(1);
});

test.each([1007, 1008, 1009, 4403])("after close code %i it retries only on request", async code => {
  const setup = make();
  await up(setup);
  setup.gateway.socket.cut(code);
  expect(setup.connection.state.phase).toBe("failed");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(setup.gateway.sockets).toHaveLength(1);
  setup.connection.retryNow();
  await vi.advanceTimersByTimeAsync(0);
  setup.gateway.deliverAll();
  expect(setup.connection.state.phase).toBe("live");
});

test("an error message before the close is the reason", async () => {
  const setup = make();
  await up(setup);
  const error = { type: "error", code: "credit_exceeded", message: "m", retryable: false, admitted: "no" };
  setup.gateway.socket.toClient.push(JSON.stringify(error));
  setup.gateway.deliverAll();
  setup.gateway.socket.cut(1008);
  expect(setup.connection.state).toMatchObject({ phase: "failed", reason: { code: "credit_exceeded" } });
});

test("goaway sets the minimum delay, plus jitter", async () => {
  const setup = make();
  await up(setup);
  setup.gateway.socket.toClient.push('{"type":"goaway","reason":"restart","retry_after":2}');
  setup.gateway.deliverAll();
  setup.gateway.socket.cut(1012);
  await vi.advanceTimersByTimeAsync(2_249);
  expect(setup.gateway.sockets).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(setup.gateway.sockets).toHaveLength(2);
});

test("close code 4429 delays the retry", async () => {
  const setup = make();
  await up(setup);
  setup.gateway.socket.cut(4429);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(setup.gateway.sockets).toHaveLength(1);
});

test("a gateway that never answers is retried after a time-out", async () => {
  const setup = make({ ticket: () => new Promise(() => {}) });
  setup.connection.connect();
  await vi.advanceTimersByTimeAsync(CONNECT_TIMEOUT * 1_000);
  expect(setup.connection.state.phase).toBe("waiting");
});

test("a protocol violation closes the connection and stops", async () => {
  const setup = make();
  await up(setup);
  setup.gateway.socket.toClient.push("{}");
  setup.gateway.deliverAll();
  expect(setup.connection.state).toMatchObject({ phase: "failed", reason: { code: "invalid_message" } });
  expect(setup.gateway.socket.closeCode).toBe(3_008);
});

test("after close it does nothing", async () => {
  const setup = make();
  await up(setup);
  setup.connection.close();
  setup.connection.retryNow();
  setup.connection.resumeHint();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(setup.connection.state.phase).toBe("closed");
  expect(setup.gateway.sockets).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});
