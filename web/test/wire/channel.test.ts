import { expect, test } from "vitest";
import { ChannelLedger } from "../../src/wire/channel";
import { MisuseError, ProtocolViolation } from "../../src/wire/errors";

const WINDOW = 1_000;
const INPUT_WINDOW = 100;
const WINDOW_MAX = 2_000;

function ledger(): ChannelLedger {
  return new ChannelLedger(WINDOW, INPUT_WINDOW, WINDOW_MAX);
}

test.each([
  [[], ["input", "end", "cancel", "credit"]],
  [["end"], ["cancel", "credit"]],
  [["cancel"], ["credit"]],
  [["end", "cancel"], ["credit"]],
] as const)("after %j a client may send %j", (sent, allowed) => {
  const channel = ledger();
  for (const verb of sent) channel.advance(verb);
  const verbs = ["input", "end", "cancel", "credit"] as const;
  expect(verbs.filter(verb => channel.may(verb))).toEqual(allowed);
  for (const verb of verbs) if (!channel.may(verb)) expect(() => channel.advance(verb)).toThrow(MisuseError);
});

test("input is limited by the granted credit, and credit is cut at the maximum window", () => {
  const channel = ledger();
  channel.spendInput(INPUT_WINDOW);
  expect(channel.inputCredit).toBe(0);
  expect(() => channel.spendInput(1)).toThrow(MisuseError);
  channel.receiveCredit(5_000);
  expect(channel.inputCredit).toBe(WINDOW_MAX);
});

test("after end there is no input credit, although the grant remains", () => {
  const channel = ledger();
  channel.advance("end");
  expect([channel.inputCredit, channel.outgoing]).toEqual([0, INPUT_WINDOW]);
});

test("a frame must fit into the window, an event may exceed it once", () => {
  const channel = ledger();
  expect(() => channel.receiveFrame(WINDOW + 1)).toThrow(ProtocolViolation);
  channel.receiveFrame(WINDOW - 1);
  channel.receiveEvent(50);
  expect(channel.incoming).toBe(-49);
  expect(() => channel.receiveEvent(1)).toThrow(ProtocolViolation);
});

test("consumed bytes are granted in quarters of the window", () => {
  const channel = ledger();
  channel.receiveFrame(WINDOW);
  expect([channel.consume(249), channel.consume(1), channel.incoming]).toEqual([0, 250, 250]);
});

test("a grant after cancel still counts, and never exceeds the maximum window", () => {
  const channel = ledger();
  channel.advance("cancel");
  expect(channel.grant(3_000)).toBe(3_000);
  expect(channel.incoming).toBe(WINDOW_MAX);
});
