import { expect, test } from "vitest";
import { Connection } from "../../src/wire/connection";
import { MisuseError, ProtocolViolation } from "../../src/wire/errors";
import { encodeFrame } from "../../src/wire/frames";

const WELCOME = {
  type: "welcome",
  protocol: 1,
  server: "s",
  identity: "i",
  role: "r",
  limits: {},
  abilities: [],
};

function connected(window = 1_000): Connection {
  const connection = new Connection({ client: "test", window });
  connection.receive(JSON.stringify(WELCOME));
  connection.dataToSend();
  return connection;
}

const sent = (connection: Connection) => connection.dataToSend().map(message => JSON.parse(String(message)));
const output = (ch: number, offset: number, length: number) =>
  encodeFrame({ kind: 1, ch, offset, payload: new Uint8Array(length) });

test("hello is sent first, and nothing else before welcome", () => {
  const connection = new Connection({ client: "test/1", window: 5 });
  expect(sent(connection)).toEqual([{ type: "hello", protocol: 1, client: "test/1", window: 5 }]);
  expect(() => connection.call("m")).toThrow(MisuseError);
});

test("channel numbers increase and are never reused", () => {
  const connection = connected();
  expect(connection.call("a")).toBe(1);
  connection.receive('{"type":"result","ch":1,"value":null}');
  expect(connection.call("b", { sandbox: "s", params: { x: 1 }, key: "k", timeout: 2 })).toBe(2);
  expect(sent(connection).at(-1)).toEqual({
    type: "call",
    ch: 2,
    method: "b",
    sandbox: "s",
    params: { x: 1 },
    key: "k",
    timeout: 2,
  });
});

test("credit is returned in quarters of the window, and only for processed bytes", () => {
  const connection = connected(1_000);
  const ch = connection.call("m");
  connection.dataToSend();
  connection.receive(output(ch, 0, 900));
  connection.consume(ch, 249);
  expect(sent(connection)).toEqual([]);
  connection.consume(ch, 1);
  expect(sent(connection)).toEqual([{ type: "credit", ch, bytes: 250 }]);
  expect(connection.ledger(ch)?.incoming).toBe(350);
});

test("nothing is granted on a closed channel", () => {
  const connection = connected(100);
  const ch = connection.call("m");
  connection.receive(output(ch, 0, 100));
  connection.receive(`{"type":"result","ch":${ch},"value":1}`);
  connection.dataToSend();
  connection.consume(ch, 100);
  expect(connection.dataToSend()).toEqual([]);
});

test("input beyond the credit is a MisuseError and is not sent", () => {
  const connection = connected();
  const ch = connection.call("m");
  connection.dataToSend();
  expect(connection.inputCredit(ch)).toBe(262_144);
  for (let i = 0; i < 4; i++) connection.input(ch, i * 65_536, new Uint8Array(65_536));
  connection.dataToSend();
  expect(() => connection.input(ch, 262_144, new Uint8Array(1))).toThrow(MisuseError);
  expect(connection.dataToSend()).toEqual([]);
});

test("after end there is no input credit", () => {
  const connection = connected();
  const ch = connection.call("m");
  connection.end(ch);
  expect(connection.inputCredit(ch)).toBe(0);
  expect(() => connection.input(ch, 0, new Uint8Array(1))).toThrow(MisuseError);
});

test("an error without a channel is fatal for the connection", () => {
  const connection = connected();
  const text = '{"type":"error","code":"backlog","message":"m","retryable":true,"admitted":"unknown"}';
  expect(connection.receive(text)).toMatchObject({ kind: "fatal", error: { code: "backlog" } });
});

test("anything that the server must not send is a ProtocolViolation", () => {
  for (const text of [
    "",
    "null",
    "{",
    '{"type":"welcome"}',
    '{"type":"event","ch":9,"name":"n","value":1}',
  ]) {
    expect(() => connected().receive(text)).toThrow(ProtocolViolation);
  }
  for (const bytes of [new Uint8Array(0), new Uint8Array(13), output(7, 0, 1)]) {
    expect(() => connected().receive(bytes)).toThrow(ProtocolViolation);
  }
});

test("parameters that cannot be sent take no channel", () => {
  const connection = connected();
  const circle: { self?: object } = {};
  circle.self = circle;
  expect(() => connection.call("m", { params: circle })).toThrow(/parameters of m are not JSON/);
  expect(() => connection.call("m", { params: { x: "é".repeat(600_000) } })).toThrow(
    /have \d+ bytes; the limit is 1048576/,
  );
  expect(sent(connection)).toEqual([]);
  expect(connection.call("m")).toBe(1);
});
