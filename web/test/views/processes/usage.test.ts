import { expect, test } from "vitest";
import { UsageMeter } from "../../../src/views/processes/usage";
import { HawseError } from "../../../src/wire/errors";

const info = { id: "web", instance: "i", pid: 7, started: 100 };
const stat = (ticks: number, pages: number) =>
  `7 (a) b (c) S 1 7 7 0 -1 4194304 1 0 0 0 ${ticks} 0 0 0 20 0 1 0 5 1000 ${pages} 1844`;

test("the usage is that since the last measurement, and since the start at the first", async () => {
  let text = stat(500, 256);
  let now = 110;
  const meter = new UsageMeter(
    async () => text,
    () => now - 1_000,
    () => now,
  );
  expect((await meter.measure([info])).get("web")).toEqual({ cpu: 50, memory: 1_048_576 });
  text = stat(600, 256);
  now = 112;
  expect((await meter.measure([info])).get("web")?.cpu).toBe(50);
  now = 114; // the date may change: after the first measurement only the time that has passed counts
  expect((await meter.measure([info])).get("web")?.cpu).toBe(0);
});

test.each(["", "7 (x", "7 (x) S 1"])("a process whose state is %j has no usage", async text => {
  expect(await new UsageMeter(async () => text).measure([info])).toEqual(new Map());
});

test("a process that has ended has no usage", async () => {
  const meter = new UsageMeter(async () => {
    throw new HawseError("not_found", "it has ended");
  });
  expect(await meter.measure([info])).toEqual(new Map());
});
