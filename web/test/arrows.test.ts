// Checks the direction of imports between the folders of src/: each folder may import only the ones listed for it.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../src", import.meta.url));

/** Folder → folders that it may import, besides itself. `index.ts` and `xterm.ts` are the public interface of all up to `terminal`. */
const ALLOWED: Record<string, readonly string[]> = {
  base: [],
  wire: ["base"],
  connection: ["base", "wire"],
  client: ["base", "wire", "connection"],
  terminal: ["base", "wire", "connection", "client"],
  index: ["base", "wire", "connection", "client", "terminal"],
  xterm: ["terminal"],
  element: ["index", "xterm"],
  frame: ["base", "wire", "connection", "client", "terminal", "index"],
  player: ["base", "wire", "connection", "client"],
  views: ["base", "wire", "connection", "client", "terminal", "index", "frame", "player"],
  page: ["base", "wire", "connection", "client", "terminal", "index", "frame", "views"],
  home: ["base", "wire", "connection", "client", "terminal", "index", "page"],
  playback: ["base", "wire", "connection", "client", "terminal", "index", "player", "page"],
};

/** Imports, re-exports and dynamic imports with a relative path. */
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)"(\.[^"]+)"/g;

function modules(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(path => /\.tsx?$/.test(path));
}

/** The folder of a path relative to src/; `index` for src/index.ts. */
function folderOf(path: string): string {
  return path.includes("/") ? (path.split("/")[0] as string) : path.replace(/\.tsx?$/, "");
}

function importsOf(module: string, text: string): string[] {
  return [...text.matchAll(IMPORT)].map(([, target]) =>
    relative(SRC, resolve(SRC, dirname(module), target as string)),
  );
}

function violations(module: string, text: string): string[] {
  const folder = folderOf(module);
  return importsOf(module, text)
    .filter(target => folderOf(target) !== folder && !ALLOWED[folder]?.includes(folderOf(target)))
    .map(target => `${module} imports ${target}`);
}

test("each folder imports only the folders below it", () => {
  const found = modules().flatMap(module => violations(module, readFileSync(join(SRC, module), "utf8")));
  expect(found).toEqual([]);
});

test("each folder of src/ has its rule", () => {
  expect([...new Set(modules().map(folderOf))].sort()).toEqual(Object.keys(ALLOWED).sort());
});

test.each([
  ["terminal/x.ts", 'import { a } from "../page/dom";'],
  ["wire/x.ts", 'export type { A } from "../client/client";'],
  ["page/x.ts", 'await import("../playback/controls");'],
  ["base/x.ts", 'import "../wire/errors";'],
])("an import from %s to a folder above it is found", (module, text) => {
  expect(violations(module, text)).toHaveLength(1);
});
