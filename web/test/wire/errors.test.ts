import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { forCall, HawseError, RETRYABLE } from "../../src/wire/errors";

test("the retryable errors match the specification", () => {
  const spec = readFileSync(new URL("../../../docs/wire.md", import.meta.url), "utf8");
  const rows = spec.matchAll(/^\| ((?:`\w+`(?:, )?)+) \| \d+ \| yes \|/gm);
  const codes = [...rows].flatMap(([, row = ""]) => [...row.matchAll(/`(\w+)`/g)].map(([, code]) => code));
  expect(codes.length).toBeGreaterThan(5);
  expect([...RETRYABLE].sort()).toEqual(codes.sort());
});

test("an unknown error code keeps the server's properties", () => {
  const message = {
    type: "error",
    code: "out_of_cheese",
    message: "+++",
    retryable: true,
    admitted: "yes",
  } as const;
  expect(HawseError.from(message)).toMatchObject({ code: "out_of_cheese", retryable: true, admitted: "yes" });
});

test("an error of the connection is copied for each call, with whether that was sent", () => {
  const refusal = new HawseError("forbidden", "no", { details: { a: 1 } });
  expect(forCall(refusal, false)).toMatchObject({ code: "forbidden", admitted: "no", details: { a: 1 } });
  expect(forCall(refusal, true)).toMatchObject({ message: "no", admitted: "unknown", retryable: false });
  expect(forCall(refusal, false)).not.toBe(refusal);
});
