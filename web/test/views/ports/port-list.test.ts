import { effect } from "@preact/signals";
import { expect, test } from "vitest";
import { mergePorts, type Port, PortList } from "../../../src/views/ports/port-list";
import { HawseError } from "../../../src/wire/errors";

const open = (port: number) => ({ port, addresses: [], pid: 1, process: "node", exposed: false });
const preview = (port: number) => ({ port, token: "t", name: null });

test("open ports and previews are one list by number", () => {
  expect(mergePorts([open(8000), open(80)], [preview(80), preview(3000)])).toEqual([
    { port: 80, process: "node", preview: preview(80) },
    { port: 3000, process: undefined, preview: preview(3000) },
    { port: 8000, process: "node", preview: undefined },
  ]);
});

/** Returns the list of the first value for which `test` is true. */
function until(list: PortList, test: () => boolean): Promise<readonly Port[] | undefined> {
  return new Promise(resolve => {
    const stop = effect(() => {
      const ports = list.ports.value;
      list.error.value;
      if (!test()) return;
      queueMicrotask(() => stop());
      resolve(ports);
    });
  });
}

test("the list follows the open ports and its own changes", async () => {
  const exposed = new Map<number, ReturnType<typeof preview>>();
  async function* watch() {
    yield { event: "ports", value: { ports: [open(80)] } };
    await new Promise(() => {});
  }
  const list = new PortList({
    port: {
      watch: () => Object.assign(watch(), { cancel: () => {} }) as never,
      exposed: async () => ({ exposed: [...exposed.values()] }),
      expose: async ({ port }) => {
        exposed.set(port, preview(port));
        return preview(port);
      },
      unexpose: async ({ port }) => {
        exposed.delete(port);
        return {};
      },
    },
  });
  await until(list, () => list.ports.value !== undefined);
  expect(list.ports.value).toEqual([{ port: 80, process: "node", preview: undefined }]);
  await list.expose(81);
  expect(list.ports.value?.map(({ port }) => port)).toEqual([80, 81]);
  await list.revoke(81);
  expect(list.ports.value?.map(({ port }) => port)).toEqual([80]);
  list.dispose();
});

test("an error is in plain words", async () => {
  // biome-ignore lint/correctness/useYield: it is refused at once
  async function* watch() {
    throw new HawseError("forbidden", "the right operate is missing");
  }
  const list = new PortList({
    port: {
      watch: () => Object.assign(watch(), { cancel: () => {} }) as never,
      exposed: async () => ({ exposed: [] }),
      expose: async () => preview(1),
      unexpose: async () => ({}),
    },
  });
  await until(list, () => list.error.value !== "");
  expect(list.error.value).toBe("You are not allowed to use the ports of this sandbox.");
});
