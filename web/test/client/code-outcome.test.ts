import { expect, test } from "vitest";
import { runCode } from "../../src/client/code-outcome";
import type { CodeCalls } from "../../src/client/code-run";
import { HawseError } from "../../src/wire/errors";

const event = (name: string, value: object) => ({ event: name, value });
const text = (kind: number, offset: number, printed: string) => ({
  event: "data",
  kind,
  offset,
  bytes: new TextEncoder().encode(printed),
});

/** A sandbox whose run has these items, and then its result or an error. */
function boxWith(items: unknown[], end: object): { box: CodeCalls; called: object[] } {
  const called: object[] = [];
  const run = (params: object) => {
    called.push(params);
    async function* iterate() {
      yield event("opened", { run: "r" });
      yield* items;
      if (end instanceof HawseError) throw end;
    }
    return Object.assign(iterate(), { cancel: () => {}, result: Promise.resolve(end) });
  };
  return { box: { code: { run, attach: run } } as unknown as CodeCalls, called };
}

const OK = { status: "ok", run: "r", execution_count: 1, duration: 0.5, error: null };

test("the outcome has the printed text, the results and the end", async () => {
  const { box, called } = boxWith(
    [
      text(1, 0, "a\n"),
      text(2, 0, "warning\n"),
      event("display", { offset: 1, data: { "image/png": "AAAA" }, display_id: "d" }),
      text(1, 2, "b\n"),
      event("value", { offset: 2, data: { "text/plain": "2", "text/html": "<b>2</b>" }, execution_count: 1 }),
    ],
    { ...OK, end: { stdout: 4, stderr: 8, bundles: 0, events: 2 } },
  );
  expect(await runCode(box, "1 + 1", { language: "python", timeout: 5 })).toEqual({
    ...OK,
    stdout: "a\nb\n",
    stderr: "warning\n",
    results: [
      { kind: "display", data: { "image/png": "AAAA" }, metadata: {}, omitted: [] },
      { kind: "value", data: { "text/plain": "2", "text/html": "<b>2</b>" }, metadata: {}, omitted: [] },
    ],
    text: "2",
    truncated: false,
  });
  expect(called).toMatchObject([{ source: "1 + 1", language: "python", timeout: 5 }]);
});

test("an error of the code is part of the outcome, and a run that could not start is an exception", async () => {
  const error = { name: "ValueError", value: "no", traceback: ["…"] };
  const raised = boxWith([event("raised", { offset: 1, ...error })], { ...OK, status: "error", error });
  expect(await runCode(raised.box, "x", {})).toMatchObject({ status: "error", error, text: undefined });
  const refused = boxWith([], new HawseError("language_unavailable", "no kernel"));
  await expect(runCode(refused.box, "x", {})).rejects.toMatchObject({ code: "language_unavailable" });
});

test("a display is updated in its place, and cleared output is not a result", async () => {
  const display = (offset: number, value: string, id?: string) => ({
    offset,
    data: { "text/plain": value },
    display_id: id ?? null,
  });
  const { box } = boxWith(
    [
      event("display", display(1, "gone")),
      event("clear", { offset: 2, wait: true }),
      event("display", display(3, "10 %", "d")),
      event("display", display(4, "other")),
      event("update", display(5, "20 %", "d")),
      event("update", display(6, "unknown", "x")),
    ],
    OK,
  );
  const { results } = await runCode(box, "x", {});
  expect(results.map(({ data }) => data["text/plain"])).toEqual(["20 %", "other"]);
});

test("missing output is marked", async () => {
  const large = [{ type: "image/png", offset: 0, size: 3, form: "base64" }];
  const { box } = boxWith(
    [
      event("truncated", { stream: "stdout", from: 100 }),
      event("value", { offset: 1, data: {}, large, omitted: ["text/html"], execution_count: 1 }),
    ],
    OK,
  );
  expect(await runCode(box, "x", {})).toMatchObject({
    truncated: true,
    results: [{ omitted: ["text/html", "image/png"] }],
  });
});
