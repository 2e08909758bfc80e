import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERRORS, HawseError } from "../../src/wire/errors";

test("the table of errors equals the specification's", () => {
  const spec = readFileSync(new URL("../../../docs/wire.md", import.meta.url), "utf8");
  const rows = spec.matchAll(/^\| ((?:`\w+`(?:, )?)+) \| (\d+) \| (yes|no) \|/gm);
  const table: Record<string, [number, boolean]> = {};
  for (const [, codes = "", status, retryable] of rows) {
    for (const [, code = ""] of codes.matchAll(/`(\w+)`/g))
      table[code] = [Number(status), retryable === "yes"];
  }
  expect(ERRORS).toEqual(table);
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
