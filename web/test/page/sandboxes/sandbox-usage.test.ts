import { expect, test } from "vitest";
import { Samples, sparkline } from "../../../src/page/sandboxes/sandbox-usage";

test("CPU time becomes percent of one core, and a new runtime starts again at zero", () => {
  const samples = new Samples();
  samples.add({ cpu: 1, memory: 10, started: 5 }, 100);
  expect(samples.list).toEqual([]); // there is no rate yet
  samples.add({ cpu: 1.5, memory: 20, started: 5 }, 102);
  expect(samples.list).toEqual([{ cpu: 25, memory: 20 }]);
  samples.add({ cpu: 0.1, memory: 5, started: 6 }, 104);
  expect(samples.list).toEqual([]);
});

test("a minute is kept", () => {
  const samples = new Samples();
  for (let at = 0; at < 100; at++) samples.add({ cpu: at, memory: at, started: 1 }, at);
  expect(samples.list.length).toBe(30);
  expect(samples.list.at(-1)).toEqual({ cpu: 100, memory: 99 });
});

test("a line ends at the right edge, and little looks like little", () => {
  expect(sparkline([], 10)).toBe("");
  expect(sparkline([0, 5], 10)).toBe("M69.5 17.0L72.0 9.0");
  expect(sparkline([20, 40], 10)).toBe("M69.5 9.0L72.0 1.0");
});
