// Checks the embedding example of README.md.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as library from "../src/index";

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(README) ?? [];

test("the example imports what the library exports", () => {
  const [, names = ""] = /import \{ (.*?) \} from "hawse-web"/.exec(example) ?? [];
  expect(names.split(", ").filter(name => !(name in library))).toEqual([]);
});

test("the example uses a new key for each call", () => {
  expect(example).toMatch(/key: randomId\(\)/);
});
