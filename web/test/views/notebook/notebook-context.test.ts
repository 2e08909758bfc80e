import { expect, test, vi } from "vitest";
import { NotebookContext } from "../../../src/views/notebook/notebook-context";
import { HawseError } from "../../../src/wire/errors";

const INFO = { id: "n", language: "bash", kernel: "bash", state: "running" };

function contextWith(code: object) {
  const problems: string[] = [];
  const runs = vi.fn();
  const created = vi.fn();
  let end = () => {};
  const over = new Promise<void>(resolve => {
    end = resolve;
  });
  const events = async function* () {
    await over;
    yield* [];
  };
  const watch = () => Object.assign(events(), { cancel: () => {} });
  const context = new NotebookContext({
    box: { code: { watch, ...code } } as never,
    id: "n",
    runs,
    created,
    problem: text => problems.push(text),
  });
  return { context, problems, runs, created, end };
}

test("a context that another client has just created is used", async () => {
  const { context, created, problems } = contextWith({
    create: async () => {
      throw new HawseError("conflict", "exists");
    },
    get: async () => INFO,
  });
  expect(await context.create()).toBe(true);
  expect(context.info.value).toBe(INFO);
  expect([created.mock.calls.length, problems]).toEqual([0, []]);
});

test("a creation that fails is reported, and tried again by the next one", async () => {
  const create = vi
    .fn()
    .mockRejectedValueOnce(new HawseError("unavailable", "no kernel"))
    .mockResolvedValue(INFO);
  const { context, created, problems } = contextWith({ create });
  expect(await context.create()).toBe(false);
  expect([problems, context.busy.value]).toEqual([["no kernel"], ""]);
  expect(await context.create()).toBe(true);
  expect(created).toHaveBeenCalledOnce();
});

test("when the context has ended, it has no runs", async () => {
  const { context, runs, end } = contextWith({ get: async () => INFO });
  await context.open();
  expect([context.language.value, context.info.value]).toEqual(["bash", INFO]);
  end();
  await vi.waitFor(() => expect(context.info.value).toBeUndefined());
  expect(runs).toHaveBeenLastCalledWith([]);
  expect(await context.complete("x", 1)).toBeUndefined();
});

test("a context that does not exist is not shown", async () => {
  const { context } = contextWith({
    get: async () => {
      throw new HawseError("not_found", "");
    },
  });
  await context.open();
  expect(context.info.value).toBeUndefined();
});
