// Checks the embedding example of README.md.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as library from "../src/index";

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(README) ?? [];

test("the example imports what the library exports", () => {
  const [, names = ""] = /import \{ (.*?) \} from "hawse"/.exec(example) ?? [];
  expect(names.split(", ").filter(name => !(name in library))).toEqual([]);
});

test("each method of the example of a sandbox exists", () => {
  const box = new library.HawseClient({ base: "http://gateway.test/" }).sandbox();
  const names = [...README.matchAll(/\bbox\.(\w+)/g)].map(([, name]) => name as string);
  expect(names.length).toBeGreaterThan(3);
  expect(names.filter(name => !(name in box))).toEqual([]);
});
