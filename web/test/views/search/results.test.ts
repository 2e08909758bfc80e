import { expect, test } from "vitest";
import { FileSearch, grouped, partsOf } from "../../../src/views/search/results";
import { HawseError } from "../../../src/wire/errors";

const match = (path: string, line: number) => ({ path, line, text: "a b", spans: [], truncated: false });
const query = { text: "b", regular: false, matchCase: false, files: "" };

test("matches are grouped by file in the order of their arrival", () => {
  const first = grouped([], [match("a", 1), match("b", 1)]);
  const all = grouped(first, [match("b", 2), match("c", 1)]);
  expect(all.map(({ path, hits }) => [path, hits.map(({ line }) => line)])).toEqual([
    ["a", [1]],
    ["b", [1, 2]],
    ["c", [1]],
  ]);
});

test.each([
  ["  let x = 1", [[6, 7]], ["let ", "[x]", " = 1"]],
  [
    "😀 find 😀 find",
    [
      [2, 6],
      [9, 13],
    ],
    ["😀 ", "[find]", " 😀 ", "[find]"],
  ],
  ["ab", [[0, 2]], ["[ab]"]],
  ["", [], []],
])("the parts of %j", (text, spans, expected) => {
  const parts = partsOf({ text, spans: spans as [number, number][] });
  expect(parts.map(({ text, found }) => (found ? `[${text}]` : text))).toEqual(expected);
});

test("a match far into a long line is shown with the text just before it", () => {
  const parts = partsOf({ text: `${"x".repeat(500)}here`, spans: [[500, 504]] });
  expect(parts.map(({ text }) => text.length)).toEqual([1, 40, 4]);
});

/** A search that yields `batches` and then returns, or throws `error`. */
function source(batches: ReturnType<typeof match>[][], error?: HawseError, seen: object[] = []) {
  return {
    file: {
      search: (params: object) => {
        seen.push(params);
        async function* run() {
          for (const matches of batches) yield { event: "matches", value: { matches } };
          if (error) throw error;
        }
        const result = { matches: 1, truncated: true, failed: 0 };
        const then = (resolve: (value: object) => void) => resolve(result);
        return Object.assign(run(), { cancel: () => {}, then }) as never;
      },
    },
  };
}

test("a search shows its results, and that there are more", async () => {
  const seen: object[] = [];
  const search = new FileSearch(source([[match("a", 1)], [match("a", 2)]], undefined, seen));
  await search.run({ ...query, files: "*.py, src/**" });
  expect(search.results.value).toMatchObject({ count: 2, truncated: true, running: false, problem: "" });
  expect(seen).toMatchObject([{ literal: true, ignore_case: true, include: ["*.py", "src/**"] }]);
  await search.run({ ...query, text: "" });
  expect(search.results.value.count).toBe(0);
});

test("an error is shown, and a search that was replaced changes nothing", async () => {
  const failing = new FileSearch(source([], new HawseError("invalid_params", "pattern: missing )")));
  await failing.run({ ...query, regular: true });
  expect(failing.results.value.problem).toBe("pattern: missing )");
  const search = new FileSearch(source([[match("a", 1)]]));
  const first = search.run(query);
  search.cancel();
  await first;
  expect(search.results.value.count).toBe(0);
});
