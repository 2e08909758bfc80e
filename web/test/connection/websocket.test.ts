import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  CONNECT_TIMEOUT,
  type ConnectionEnd,
  SUBPROTOCOL,
  WebSocketTransport,
} from "../../src/connection/websocket";
import type { ConnectionEvent } from "../../src/wire/connection";
import { HawseError } from "../../src/wire/errors";
import { FakeSocket } from "../fakes/fake-socket";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const WELCOME = {
  type: "welcome",
  protocol: 1,
  server: "s",
  identity: "i",
  role: "owner",
  abilities: [],
  limits: {},
};

function make(ticket: () => Promise<string> = async () => "a ticket") {
  const socket = new FakeSocket();
  const opened: string[][] = [];
  const ends: ConnectionEnd[] = [];
  const events: ConnectionEvent[] = [];
  let ups = 0;
  const transport = new WebSocketTransport(
    {
      base: new URL("https://gateway.test/sub/"),
      token: "secret",
      client: "test",
      window: 1_000,
      ticket,
      openSocket: (...how) => {
        opened.push(how);
        return socket as unknown as WebSocket;
      },
    },
    { up: () => ups++, event: event => events.push(event), roundTrip: () => {}, down: end => ends.push(end) },
  );
  const say = (message: object) => {
    socket.toClient.push(JSON.stringify(message));
    socket.deliver("toClient");
  };
  const open = async () => {
    await vi.advanceTimersByTimeAsync(0);
    socket.open({ receive: () => {}, closed: () => {} });
  };
  return { socket, transport, opened, ends, events, say, open, ups: () => ups };
}

test("it connects with the ticket, sends hello, and is up at welcome", async () => {
  const made = make();
  await made.open();
  expect(made.opened).toEqual([["wss://gateway.test/sub/v1/connect?ticket=a+ticket", SUBPROTOCOL]]);
  expect(made.socket.binaryType).toBe("arraybuffer");
  expect(JSON.parse(String(made.socket.toServer[0]))).toMatchObject({ type: "hello", client: "test" });
  expect(made.ups()).toBe(0);
  made.say(WELCOME);
  expect(made.ups()).toBe(1);
});

test.each([
  [1006, "retry"],
  [1012, "retry"],
  [4401, "sign-in"],
  [1008, "stop"],
  [4403, "stop"],
])("close code %i means: %s", async (code, action) => {
  const made = make();
  await made.open();
  made.socket.cut(code);
  expect(made.ends).toEqual([expect.objectContaining({ action })]);
});

test("a failed ticket ends it without a socket", async () => {
  const made = make(async () => {
    throw new HawseError("unauthenticated", "wrong token");
  });
  await vi.advanceTimersByTimeAsync(0);
  expect([made.opened, made.ends[0]?.action]).toEqual([[], "sign-in"]);
});

test("a protocol violation closes the socket and stops", async () => {
  const made = make();
  await made.open();
  made.say({ type: "result", ch: 1, value: 1 });
  expect(made.socket.closeCode).toBe(3008);
  expect(made.ends).toEqual([expect.objectContaining({ action: "stop" })]);
});

test("goaway and the fatal error are part of the end", async () => {
  const made = make();
  await made.open();
  made.say(WELCOME);
  made.say({ type: "goaway", reason: "restart", retry_after: 2 });
  made.say({ type: "error", code: "backlog", message: "slow", retryable: true, admitted: "no" });
  made.socket.cut(1011);
  expect(made.ends[0]).toMatchObject({ action: "retry", notBefore: 2_000, error: { code: "backlog" } });
});

test("without welcome it ends after the connect time-out, once", async () => {
  const made = make();
  await made.open();
  await vi.advanceTimersByTimeAsync(CONNECT_TIMEOUT);
  made.transport.drop(new HawseError("cancelled", "again"));
  expect(made.ends).toEqual([expect.objectContaining({ action: "retry" })]);
  expect(made.socket.readyState).toBe(3);
});

test("dropped before the ticket arrives, it opens no socket", async () => {
  const made = make();
  made.transport.drop(new HawseError("cancelled", "closed"), "stop");
  await vi.advanceTimersByTimeAsync(0);
  expect(made.opened).toEqual([]);
});
