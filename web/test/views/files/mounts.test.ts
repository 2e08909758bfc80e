import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { describeMount, IDLE_INTERVAL, INTERVAL, MountList, stateOf } from "../../../src/views/files/mounts";
import { HawseError } from "../../../src/wire/errors";
import type { MountInfo } from "../../../src/wire/methods";

const MOUNT: MountInfo = { id: "m-1", sandbox: "s", path: "work/data", bucket: "sets", state: "mounted" };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("mounts are known by their paths and kept current until the list is disposed", async () => {
  let found: MountInfo[] = [];
  let asked = 0;
  const list = new MountList(async () => {
    asked++;
    return found;
  });
  await list.start();
  expect(list.mounts.value.size).toBe(0);
  found = [MOUNT];
  await vi.advanceTimersByTimeAsync(IDLE_INTERVAL);
  expect(list.mounts.value.get("work/data")).toEqual(MOUNT);
  found = [{ ...MOUNT, pending: 2 }];
  await vi.advanceTimersByTimeAsync(INTERVAL);
  expect(list.mounts.value.get("work/data")?.pending).toBe(2);
  found = [];
  await vi.advanceTimersByTimeAsync(INTERVAL);
  expect(list.mounts.value.size).toBe(0);
  list.dispose();
  const before = asked;
  await vi.advanceTimersByTimeAsync(10 * IDLE_INTERVAL);
  expect(asked).toBe(before);
});

test("a lost connection is tried again, a refusal is not", async () => {
  const errors = [
    new HawseError("interrupted", "the connection was lost"),
    new HawseError("forbidden", "not for guests"),
  ];
  let asked = 0;
  const list = new MountList(async () => {
    throw errors[asked++];
  });
  await list.start();
  await vi.advanceTimersByTimeAsync(IDLE_INTERVAL);
  expect(asked).toBe(2);
  await vi.advanceTimersByTimeAsync(10 * IDLE_INTERVAL);
  expect(asked).toBe(2);
});

test("a mount shows its main property beside its name, and the rest in a sentence", () => {
  expect(stateOf(MOUNT)).toBe("");
  expect(stateOf({ ...MOUNT, read_only: true })).toBe("read-only");
  expect(stateOf({ ...MOUNT, pending: 3 })).toBe("3 to upload");
  expect(stateOf({ ...MOUNT, state: "failed", pending: 3 })).toBe("failed");
  expect(stateOf({ id: "m", sandbox: "s", path: "p", bucket: "b" })).toBe("not mounted");
  expect(stateOf({ ...MOUNT, state: "deleting" })).toBe("being removed");
  expect(describeMount({ ...MOUNT, prefix: "a", read_only: true })).toBe("Mount of sets/a, read-only");
  expect(describeMount({ ...MOUNT, state: "failed", reason: "the store is away", pending: 1 })).toBe(
    "Mount of sets; failed: the store is away; 1 file is not uploaded yet",
  );
});

test("an overlay names its backup", () => {
  const overlay: MountInfo = { id: "m-2", sandbox: "s", path: "o", backup: "b-1", state: "mounted" };
  expect(describeMount(overlay)).toBe("Overlay of backup b-1");
  expect(describeMount({ ...overlay, state: "deleting" })).toBe("Overlay of backup b-1; being removed");
});
