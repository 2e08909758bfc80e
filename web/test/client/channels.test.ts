import { expect, test } from "vitest";
import { Channels } from "../../src/client/channels";
import { Connection } from "../../src/wire/connection";

const WELCOME = {
  type: "welcome",
  protocol: 1,
  server: "s",
  identity: "i",
  role: "owner",
  abilities: [],
  limits: {},
};

function make() {
  const connection = new Connection({ client: "test", window: 1_000 });
  connection.receive(JSON.stringify(WELCOME));
  connection.dataToSend();
  const channels = new Channels(() => {});
  const log: unknown[] = [];
  const open = (extra: object = {}) =>
    channels.open(
      "some.method",
      {},
      {
        result: value => log.push(["result", value]),
        error: error => log.push(["error", error.code]),
        ...extra,
      },
    );
  const receive = (message: object) => {
    const event = connection.receive(JSON.stringify(message));
    if (event) channels.receive(event);
  };
  return { connection, channels, log, open, receive };
}

test("without a connection no channel opens", () => {
  const { channels, open, connection } = make();
  expect(open()).toBeUndefined();
  channels.connectionOpened(connection);
  expect(open()).toBeDefined();
});

test("events go to the channel's handlers, and its result is the last", () => {
  const { channels, connection, log, open, receive } = make();
  channels.connectionOpened(connection);
  const channel = open({ event: (name: string, value: unknown) => log.push([name, value]) });
  receive({ type: "event", ch: 1, name: "tick", value: 7 });
  receive({ type: "result", ch: 1, value: "done" });
  expect(log).toEqual([
    ["tick", 7],
    ["result", "done"],
  ]);
  connection.dataToSend();
  channel?.cancel();
  expect([connection.dataToSend(), channel?.inputCredit]).toEqual([[], 0]);
});

test("the progress of a sandbox that is being started is not an event of the method", () => {
  const { channels, connection, log, open, receive } = make();
  channels.connectionOpened(connection);
  const note = (value: unknown) => log.push(value);
  open({ event: note, starting: note });
  open({ event: note });
  connection.dataToSend();
  receive({ type: "event", ch: 1, name: "starting", value: { phase: "creating" } });
  receive({ type: "event", ch: 2, name: "starting", value: { phase: "creating" } });
  expect(log).toEqual([{ phase: "creating" }]);
});

test("the credit of an event without a handler is returned", () => {
  const { channels, connection, open, receive } = make();
  channels.connectionOpened(connection);
  open();
  connection.dataToSend();
  receive({ type: "event", ch: 1, name: "unknown", value: "x".repeat(300) });
  expect(connection.dataToSend().map(message => JSON.parse(String(message)).type)).toEqual(["credit"]);
});

test("a lost connection interrupts every open channel, and their methods do nothing afterwards", () => {
  const { channels, connection, log, open } = make();
  channels.connectionOpened(connection);
  const channel = open();
  open();
  channels.connectionLost();
  expect(log).toEqual([
    ["error", "interrupted"],
    ["error", "interrupted"],
  ]);
  connection.dataToSend();
  channel?.end();
  channel?.consume(1_000);
  expect(connection.dataToSend()).toEqual([]);
});
