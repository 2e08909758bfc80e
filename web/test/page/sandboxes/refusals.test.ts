import { expect, test } from "vitest";
import { describeReason, describeRequest, Refusals, SHOWN } from "../../../src/page/sandboxes/refusals";

const request = (time: number, host = "evil.example") => ({
  ...{ time, host, reason: "rule" as const, port: 443, method: "GET" },
});

test("the newest refusal is the first, and a bounded number is kept", () => {
  const refusals = new Refusals();
  refusals.begin();
  for (let time = 1; time <= SHOWN + 10; time++) refusals.add(request(time));
  refusals.add({ time: 1000, allowed: true, host: "good.example" });
  expect(refusals.list.length).toBe(SHOWN);
  expect(refusals.list[0]?.time).toBe(SHOWN + 10);
});

test("refusals that a new watch repeats are not shown twice", () => {
  const refusals = new Refusals();
  refusals.begin();
  refusals.add(request(1));
  refusals.add(request(2));
  refusals.live();
  refusals.begin(); // after a lost connection
  refusals.add(request(1));
  refusals.add(request(2));
  refusals.add(request(3));
  refusals.live();
  refusals.add(request(3, "other.example")); // at the same time as the one before
  expect(refusals.list.map(each => each.time)).toEqual([3, 3, 2, 1]);
});

test("a request and its reason are described, as far as they are known", () => {
  expect(describeRequest(request(1))).toBe("GET evil.example:443");
  expect(describeRequest({ time: 1 })).toBe("Request to an unknown host");
  expect(describeReason(request(1))).toBe("no rule allows it");
  expect(describeReason({ time: 1 })).toBe("");
});
