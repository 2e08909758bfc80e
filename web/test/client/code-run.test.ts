import { expect, test } from "vitest";
import { type CodeCalls, RunFollower, type RunListener } from "../../src/client/code-run";
import { HawseError, interrupted } from "../../src/wire/errors";

interface Call {
  method: "run" | "attach";
  params: Record<string, unknown>;
  key: string | undefined;
}

/** Answers calls with streams of `scripts`: items, and then an error or a result. */
function server(...scripts: { items: unknown[]; end: HawseError | object }[]) {
  const calls: Call[] = [];
  const open =
    (method: Call["method"]) =>
    (params: object, request?: { key?: string }): object => {
      calls.push({ method, params: params as Record<string, unknown>, key: request?.key });
      const script = scripts.shift();
      if (!script) throw new Error("no more calls are expected");
      const failed = script.end instanceof HawseError;
      async function* items() {
        yield* script?.items ?? [];
        if (failed) throw script?.end;
      }
      const again = (continued: object) => open(method)(continued, request);
      return Object.assign(items(), { cancel: () => {}, again, result: failed ? undefined : script.end });
    };
  const box = { code: { run: open("run"), attach: open("attach") } } as unknown as CodeCalls;
  return { box, calls };
}

/** Follows a run to its end and returns what was reported. */
async function followed(box: CodeCalls, which: ConstructorParameters<typeof RunFollower>[1]) {
  const seen: unknown[][] = [];
  await new Promise<void>(resolve => {
    const note =
      (name: string) =>
      (...values: unknown[]) =>
        void seen.push([name, ...values]);
    const last = (name: string) => (value: unknown) => {
      seen.push([name, value]);
      resolve();
    };
    const listener: RunListener = {
      requested: () => {},
      named: note("named"),
      began: note("began"),
      text: note("text"),
      display: (_, data) => note("display")(data),
      update: (_, data) => note("update")(data),
      clear: note("clear"),
      error: note("error"),
      input: note("input"),
      lost: note("lost"),
      ended: last("ended"),
      failed: last("failed"),
    };
    new RunFollower(box, which, listener);
  });
  return seen;
}

const event = (name: string, value: object) => ({ event: name, value });
const data = (kind: number, offset: number, bytes: Uint8Array) => ({ event: "data", kind, offset, bytes });
const encode = (text: string) => new TextEncoder().encode(text);

test("a run continues at the exact byte and event after a lost connection", async () => {
  const euro = encode("€");
  const { box, calls } = server(
    {
      items: [
        event("waiting", { ahead: 1, run: "r" }),
        event("opened", { run: "r" }),
        data(1, 0, euro.subarray(0, 2)),
        event("display", { offset: 9, data: { "text/plain": "x" } }),
      ],
      end: interrupted("code.run"),
    },
    {
      items: [event("opened", { run: "r" }), data(1, 2, euro.subarray(2))],
      end: { status: "ok" },
    },
  );
  const seen = await followed(box, { context: "c", source: "code" });
  expect(calls.map(({ method }) => method)).toEqual(["run", "run"]);
  expect(calls[0]?.key).toBeTruthy();
  expect(calls[1]?.key).toBe(calls[0]?.key);
  expect(calls[1]?.params).toEqual({
    context: "c",
    source: "code",
    since: { stdout: 2, stderr: 0, bundles: 0, events: 9 },
  });
  expect(
    seen
      .filter(([name]) => name === "text")
      .map(each => each[2])
      .join(""),
  ).toBe("€");
  expect(seen.filter(([name]) => name === "began").length).toBe(1);
  expect(seen.at(-1)).toEqual(["ended", { status: "ok" }]);
});

test("a sandbox that was restarted may have run the code again, which is another run", async () => {
  const { box } = server(
    { items: [event("opened", { run: "r" })], end: interrupted("code.run") },
    { items: [event("opened", { run: "s" })], end: { status: "ok" } },
  );
  const seen = await followed(box, { source: "code" });
  expect(seen.at(-1)).toEqual(["failed", expect.objectContaining({ code: "outcome_unknown" })]);
});

test.each([
  ["a gap is reported", [event("truncated", { stream: "stdout", from: 5 })], { stdout: 5 }],
  [
    "output that is no longer kept when it continues",
    [event("opened", { run: "r", from: { stderr: 3 } })],
    {},
  ],
  ["output that was not sent before the end", [], { events: 2 }],
])("output that is missing is noticed: %s", async (_, items, end) => {
  const { box } = server({ items: [event("opened", { run: "r" }), ...items], end: { status: "ok", end } });
  const seen = await followed(box, { source: "code" });
  expect(seen.filter(([name]) => name === "lost")).toHaveLength(1);
});

test("a run that waits is called again with its key, so that it keeps its place", async () => {
  const { box, calls } = server(
    { items: [event("waiting", { ahead: 1, run: "r" })], end: interrupted("code.run") },
    { items: [event("opened", { run: "r" })], end: { status: "ok" } },
  );
  await followed(box, { context: "c", source: "code" });
  expect(calls.map(({ method }) => method)).toEqual(["run", "run"]);
  expect(calls[0]?.key).toBe(calls[1]?.key);
});

test("large values are put together from their bytes", async () => {
  const large = [
    { type: "image/png", offset: 0, size: 3, form: "base64" },
    { type: "text/html", offset: 3, size: 3, form: "text" },
    { type: "application/json", offset: 6, size: 2, form: "json" },
  ];
  const { box } = server({
    items: [
      event("opened", { run: "r", source: "1" }),
      data(3, 0, encode("pn")),
      data(3, 2, encode("g<b>[]")),
      event("value", { offset: 5, data: { "text/plain": "p" }, large }),
    ],
    end: { status: "ok" },
  });
  const seen = await followed(box, { context: "c", run: "r" });
  expect(seen.find(([name]) => name === "display")?.[1]).toEqual({
    "text/plain": "p",
    "image/png": btoa("png"),
    "text/html": "<b>",
    "application/json": [],
  });
});

test("an error other than a lost connection ends it", async () => {
  const { box } = server({ items: [], end: new HawseError("not_found", "no such context") });
  const seen = await followed(box, { context: "c", source: "1" });
  expect(seen.at(-1)?.[0]).toBe("failed");
});
