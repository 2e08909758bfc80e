// Checks the names in the examples of README.md. e2e/apps/test_npm_package.py compiles them, and runs the first one.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as library from "../src/index";
import * as xterm from "../src/xterm";

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test.each([
  ["hawse", library],
  ["hawse/xterm", xterm],
])("the examples import what %s exports", (name, exported) => {
  const imports = [...README.matchAll(/import \{ (.*?) \} from "(.*?)"/g)].filter(found => found[2] === name);
  const names = imports.flatMap(([, list = ""]) => list.split(", "));
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter(each => !(each in exported))).toEqual([]);
});

test("each method of the example of a sandbox exists", () => {
  const box = new library.HawseClient({ base: "http://gateway.test/" }).sandbox();
  const names = [...README.matchAll(/\bbox\.(\w+)/g)].map(([, name]) => name as string);
  expect(names.length).toBeGreaterThan(3);
  expect(names.filter(name => !(name in box))).toEqual([]);
});
