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
  const receive = (message: object) => {
    socket.toClient.push(JSON.stringify(message));
    socket.deliver("toClient");
  };
  const open = async () => {
    await vi.advanceTimersByTimeAsync(0);
    socket.open({ receive: () => {}, closed: () => {} });
  };
  return { socket, transport, opened, ends, events, receive, open, ups: () => ups };
}

test("it connects with the ticket, sends hello, and is up at welcome", async () => {
  const setup = make();
  await setup.open();
  expect(setup.opened).toEqual([["wss://gateway.test/sub/v1/connect?ticket=a+ticket", SUBPROTOCOL]]);
  expect(setup.socket.binaryType).toBe("arraybuffer");
  expect(JSON.parse(String(setup.socket.toServer[0]))).toMatchObject({ type: "hello", client: "test" });
  expect(setup.ups()).toBe(0);
  setup.receive(WELCOME);
  expect(setup.ups()).toBe(1);
});

test.each([
  [1006, "retry", "unavailable"],
  [1012, "retry", "unavailable"],
  [4401, "sign-in", "unauthenticated"],
  [1008, "stop", "protocol_error"],
  [4403, "stop", "forbidden"],
])("close code %i means: %s, with the error %s", async (code, action, error) => {
  const setup = make();
  await setup.open();
  setup.socket.cut(code);
  expect(setup.ends).toMatchObject([{ action, error: { code: error, retryable: action === "retry" } }]);
});

test("the reason of a socket that cannot connect is part of the error", async () => {
  const setup = make();
  await vi.advanceTimersByTimeAsync(0);
  setup.socket.dispatchEvent(
    Object.assign(new Event("error"), { message: "Unexpected server response: 404" }),
  );
  setup.socket.cut();
  expect(setup.ends[0]?.error.message).toBe("connection lost: Unexpected server response: 404");
});

test("an error of the socket is listened to after the end: the package ws would end the process otherwise", async () => {
  const setup = make();
  const added = vi.spyOn(setup.socket, "addEventListener");
  const removed = vi.spyOn(setup.socket, "removeEventListener");
  await vi.advanceTimersByTimeAsync(0);
  setup.transport.drop(new HawseError("cancelled", "closed"), "stop");
  expect(added.mock.calls.map(([type]) => type)).toContain("error");
  expect(removed).not.toHaveBeenCalled();
  expect(setup.ends).toHaveLength(1);
});

test("nothing that arrives after the end is reported", async () => {
  const setup = make();
  await setup.open();
  setup.receive(WELCOME);
  setup.transport.drop(new HawseError("cancelled", "closed"), "stop");
  setup.socket.dispatchEvent(Object.assign(new Event("message"), { data: '{"type":"pong","t":1}' }));
  setup.socket.dispatchEvent(new Event("open"));
  setup.socket.dispatchEvent(Object.assign(new Event("close"), { code: 4401, reason: "" }));
  expect([setup.events, setup.ends.length]).toEqual([[], 1]);
});

test("a failed ticket ends it without a socket", async () => {
  const setup = make(async () => {
    throw new HawseError("unauthenticated", "wrong token");
  });
  await vi.advanceTimersByTimeAsync(0);
  expect([setup.opened, setup.ends[0]?.action]).toEqual([[], "sign-in"]);
});

test("a protocol violation closes the socket and stops", async () => {
  const setup = make();
  await setup.open();
  setup.receive({ type: "result", ch: 1, value: 1 });
  expect(setup.socket.closeCode).toBe(3008);
  expect(setup.ends).toEqual([expect.objectContaining({ action: "stop" })]);
});

test("goaway and the fatal error are part of the end", async () => {
  const setup = make();
  await setup.open();
  setup.receive(WELCOME);
  setup.receive({ type: "goaway", reason: "restart", retry_after: 2 });
  setup.receive({ type: "error", code: "backlog", message: "slow", retryable: true, admitted: "no" });
  setup.socket.cut(1011);
  expect(setup.ends[0]).toMatchObject({ action: "retry", notBefore: 2_000, error: { code: "backlog" } });
});

test("without welcome it ends after the connect time-out, once", async () => {
  const setup = make();
  await setup.open();
  await vi.advanceTimersByTimeAsync(CONNECT_TIMEOUT * 1_000);
  setup.transport.drop(new HawseError("cancelled", "again"));
  expect(setup.ends).toEqual([expect.objectContaining({ action: "retry" })]);
  expect(setup.socket.readyState).toBe(3);
});

test("dropped before the ticket arrives, it opens no socket", async () => {
  const setup = make();
  setup.transport.drop(new HawseError("cancelled", "closed"), "stop");
  await vi.advanceTimersByTimeAsync(0);
  expect(setup.opened).toEqual([]);
});
