import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  compare,
  FileTree,
  isBelow,
  parentOf,
  resolved,
  type TreeSource,
} from "../../../src/views/files/tree";
import { HawseError } from "../../../src/wire/errors";
import type { FileEntry } from "../../../src/wire/methods";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const entry = (path: string, type: FileEntry["type"] = "file"): FileEntry => ({
  path,
  type,
  size: 1,
  mode: 0o644,
  mtime: 0,
});

/** A sandbox in memory. A test changes `listings` and reports it with `change`. */
function makeSandbox(listings: Record<string, FileEntry[]>) {
  const watched = new Map<string, () => void>();
  const source = {
    file: {
      async *list({ path }: { path: string }) {
        const entries = listings[path];
        if (!entries) throw new HawseError("not_found", `${path} does not exist`);
        yield { event: "entries", value: { entries } };
      },
    },
    watch: {
      start: ({ path }: { path: string }) => {
        let wake = () => {};
        let ended = false;
        const stream = {
          cancel: () => {
            ended = true;
            watched.delete(path);
            wake();
          },
          async *[Symbol.asyncIterator]() {
            while (!ended) {
              await new Promise<void>(resolve => {
                wake = resolve;
              });
              if (!ended) yield { event: "changes", value: { changes: [] } };
            }
          },
        };
        watched.set(path, () => wake());
        return stream;
      },
    },
    git: { status: async () => ({ entries: [{ path: "a.txt", index: ".", worktree: "M" }] }) },
  } as unknown as TreeSource;
  const change = async (path: string) => {
    await vi.advanceTimersByTimeAsync(0);
    watched.get(path)?.();
    await vi.advanceTimersByTimeAsync(1_000);
  };
  return { tree: new FileTree(source), watched, change };
}

const shown = (tree: FileTree) => tree.rows.value.map(({ path, depth }) => `${"  ".repeat(depth)}${path}`);

test("directories come first, and numbers are in the order of their values", () => {
  const names = [entry("b10"), entry("b9"), entry("z", "directory"), entry("A")].sort(compare);
  expect(names.map(({ path }) => path)).toEqual(["z", "A", "b9", "b10"]);
});

test("an expanded directory shows its entries below it until it is collapsed", async () => {
  const { tree } = makeSandbox({ ".": [entry("a.txt"), entry("src", "directory")], src: [entry("b.py")] });
  await tree.expand("");
  await tree.expand("src");
  expect(shown(tree)).toEqual(["src", "  src/b.py", "a.txt"]);
  tree.collapse("src");
  expect(shown(tree)).toEqual(["src", "a.txt"]);
});

test("a change in an expanded directory is shown, and only expanded ones are watched", async () => {
  const listings = { ".": [entry("src", "directory")], src: [entry("a")] };
  const { tree, watched, change } = makeSandbox(listings);
  await tree.expand("");
  await tree.expand("src");
  listings.src = [entry("a"), entry("b")];
  await change("src");
  expect(shown(tree)).toEqual(["src", "  src/a", "  src/b"]);
  tree.collapse("src");
  expect([...watched.keys()]).toEqual(["."]);
  tree.dispose();
  expect([...watched.keys()]).toEqual([]);
});

test("a directory that is gone is collapsed; a workspace that cannot be read is an error", async () => {
  const listings: Record<string, FileEntry[]> = { ".": [entry("src", "directory")], src: [entry("a")] };
  const { tree, change } = makeSandbox(listings);
  await tree.expand("");
  await tree.expand("src");
  delete listings.src;
  await change("src");
  expect([shown(tree), tree.error.value]).toEqual([["src"], undefined]);
  delete listings["."];
  await change(".");
  expect(tree.error.value).toBe(". does not exist");
});

test("files of a repository have the marks of git", async () => {
  const { tree } = makeSandbox({ ".": [entry(".git", "directory"), entry("a.txt"), entry("b.txt")] });
  await tree.expand("");
  expect(tree.rows.value.map(({ name, mark }) => [name, mark])).toEqual([
    [".git", undefined],
    ["a.txt", "changed"],
    ["b.txt", undefined],
  ]);
});

test("paths are below their directories, and the workspace is the empty path", () => {
  expect([isBelow("a/b", "a"), isBelow("ab", "a"), isBelow("a", ""), isBelow("", "")]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect([parentOf("a/b/c"), parentOf("a")]).toEqual(["a/b", ""]);
});

test.each([
  ["a/../b.md", "b.md"],
  ["../../x", "x"],
  ["./a//b/.", "a/b"],
])("the path %s is %s", (path, expected) => {
  expect(resolved(path)).toBe(expected);
});
