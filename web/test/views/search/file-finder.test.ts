import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FileFinder, namedGlobs } from "../../../src/views/search/file-finder";
import type { FileSearch } from "../../../src/wire/methods";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A sandbox whose searches find what `answer` returns for their parameters. */
function make(answer: (params: FileSearch) => { paths: string[]; truncated?: boolean; failed?: number }) {
  const asked: FileSearch[] = [];
  let cancelled = 0;
  const search = (params: FileSearch) => {
    asked.push(params);
    const { paths, truncated = false, failed = 0 } = answer(params);
    const items = (async function* () {
      yield { event: "matches", value: { matches: paths.map(path => ({ path })) } };
    })();
    const result = Promise.resolve({ matches: paths.length, truncated, failed });
    return Object.assign(result, {
      [Symbol.asyncIterator]: () => items,
      cancel: () => void cancelled++,
    });
  };
  const finder = new FileFinder({ file: { search } } as never);
  return { finder, asked, cancelled: () => cancelled };
}

async function settled() {
  await vi.advanceTimersByTimeAsync(200);
}

test("the server searches for all words, a moment after the last key", async () => {
  const { finder, asked } = make(() => ({ paths: ["docs/notes.md"] }));
  finder.search("");
  await settled();
  for (const text of ["n", "no", "not md"]) finder.search(text);
  await settled();
  expect(asked.map(({ words }) => words)).toEqual([undefined, ["not", "md"]]);
  expect(finder.found.value).toEqual({ paths: ["docs/notes.md"], status: "" });
});

test("an abandoned search is cancelled and shows nothing", async () => {
  const { finder, cancelled } = make(({ words }) => ({ paths: [words?.[0] ?? "all"] }));
  finder.search("a");
  await vi.advanceTimersByTimeAsync(0);
  finder.search("b");
  await settled();
  expect(cancelled()).toBeGreaterThan(0);
  expect(finder.found.value.paths).toEqual(["b"]);
});

test("among too many files, exact names are found, and the status says that there are more", async () => {
  const { finder } = make(({ include }) =>
    include ? { paths: ["site/src/mod1.ts"] } : { paths: ["many/mod10", "many/mod11"], truncated: true },
  );
  finder.search("mod1");
  await settled();
  expect(finder.found.value).toEqual({
    paths: ["many/mod10", "many/mod11", "site/src/mod1.ts"],
    status: "The first 3 files whose paths contain this. Type more of the name.",
  });
});

test("a search without results names the directories that it skips and could not read", async () => {
  const { finder } = make(() => ({ paths: [], failed: 2 }));
  finder.search("x");
  await settled();
  expect(finder.found.value.status).toBe(
    "No path contains this. .git, node_modules, __pycache__ and .venv are not searched. 2 could not be read.",
  );
});

test("without a text, the first files are shown as such", async () => {
  const { finder } = make(() => ({ paths: ["a"], truncated: true }));
  finder.search("");
  expect(finder.found.value.status).toBe("Searching…");
  await settled();
  expect(finder.found.value.status).toBe("The first 1 files. Type part of a name.");
});

test("characters of globs in a name are themselves", () => {
  expect(namedGlobs("a[1]*.ts")).toEqual(["**/a[[]1[]][*].ts", "**/a[[]1[]][*].ts.*"]);
});
