import { expect, test } from "vitest";
import { attempt } from "../../src/views/attempt";
import { HawseError } from "../../src/wire/errors";

test("a refused call is shown, and one that the user has cancelled is not", async () => {
  const shown: string[] = [];
  const app = { toast: (text: string) => void shown.push(text) };
  expect(await attempt(app, async () => 1)).toBe(true);
  expect(
    await attempt(app, async () => {
      throw new HawseError("conflict", "it has changed");
    }),
  ).toBe(false);
  await attempt(app, async () => {
    throw new HawseError("cancelled", "cancelled");
  });
  expect(shown).toEqual(["it has changed"]);
});

test("an error of the page itself is thrown", async () => {
  const broken = attempt({ toast: () => {} }, async () => {
    throw new TypeError("a bug");
  });
  await expect(broken).rejects.toThrow("a bug");
});
