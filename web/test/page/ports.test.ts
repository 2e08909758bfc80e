import { expect, test } from "vitest";

import { News } from "../../src/page/ports";

const open = (...ports: number[]) =>
  ports.map(port => ({ port, addresses: [], pid: 1, process: "node", exposed: false }));

test("the port that opened last is told first", () => {
  const news = new News();
  expect(news.latest).toBeUndefined();
  news.show(open(5173));
  news.show(open(3000, 5173));
  expect(news.latest?.port).toBe(3000);
  news.show(open(5173));
  expect(news.latest?.port).toBe(5173);
});

test("what was answered is not told again until it was closed", () => {
  const news = new News();
  news.show(open(3000, 5173));
  news.answer();
  news.show(open(3000, 5173));
  expect(news.latest).toBeUndefined();
  news.show(open(3000));
  news.show(open(3000, 5173));
  expect(news.latest?.port).toBe(5173);
});
