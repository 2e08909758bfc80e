import { expect, test } from "vitest";

import { PortNotices } from "../../src/page/ports";

const open = (...ports: number[]) =>
  ports.map(port => ({ port, addresses: [], pid: 1, process: "node", exposed: false }));

test("the port that opened last is shown first", () => {
  const notices = new PortNotices();
  expect(notices.latest).toBeUndefined();
  notices.show(open(5173));
  notices.show(open(3000, 5173));
  expect(notices.latest?.port).toBe(3000);
  notices.show(open(5173));
  expect(notices.latest?.port).toBe(5173);
});

test("a dismissed port is not shown again until it was closed", () => {
  const notices = new PortNotices();
  notices.show(open(3000, 5173));
  notices.dismiss();
  notices.show(open(3000, 5173));
  expect(notices.latest).toBeUndefined();
  notices.show(open(3000));
  notices.show(open(3000, 5173));
  expect(notices.latest?.port).toBe(5173);
});

test("ports that were dismissed before a reload, and ports with a preview on the page, are not shown", () => {
  const notices = new PortNotices([3000, 8000]);
  notices.show(open(3000, 5173));
  expect(notices.latest?.port).toBe(5173);
  expect(notices.seen).toEqual([3000]);
  notices.previewed = new Set([5173]);
  expect(notices.latest).toBeUndefined();
  notices.previewed = new Set();
  expect(notices.latest?.port).toBe(5173);
});

test("a port that this page has shown is not shown by other pages, until it was closed", () => {
  const notices = new PortNotices();
  notices.show(open(3000));
  notices.mark(3000);
  expect(notices.latest?.port).toBe(3000);
  expect(new PortNotices(notices.seen).latest).toBeUndefined();
  notices.show([]);
  expect(notices.seen).toEqual([]);
});
