import { expect, test } from "vitest";
import { type Leaf, leavesOf, splitLeaf, type Tree } from "../../src/frame/tree";
import { treeFromText, treeToText } from "../../src/frame/tree-text";

const leaf = (id: number, kind: string, state: Record<string, string>): Leaf => ({
  type: "leaf",
  id,
  kind,
  state,
});

function read(text: string): Tree | undefined {
  let id = 0;
  return treeFromText(text, () => ++id);
}

test("a tree of splits is readable text, and the same tree again", () => {
  const right = leaf(2, "editor", { path: "src/app.py", line: "12" });
  const tree = splitLeaf(leaf(1, "terminal", { id: "main" }), 1, "row", right);
  const text = "row(50:terminal~id~main,50:editor~path~src/app.py~line~12)";
  expect(treeToText(tree)).toBe(text);
  expect(read(text)).toEqual(tree);
});

test("any text can be a value, and the URL keeps it as written", () => {
  const value = "a b~c(d),é漢😀%*?#&='\"";
  const text = treeToText(leaf(1, "terminal", { id: value, "": "" }));
  const url = new URL(`http://gateway.example/?layout=${text}`);
  expect(url.search).toBe(`?layout=${text}`);
  const found = read(url.searchParams.get("layout") ?? "");
  expect(found).toMatchObject({ state: { id: value, "": "" } });
});

test.each([
  "",
  "row()",
  "row(50:a)",
  "row(50:a,50:b",
  "row(50:a,50:b)x",
  "row(0:a,50:b)",
  "row(a,b)",
  "a~b",
  "~a~b",
  "row(".repeat(50),
  `row(${Array.from({ length: 40 }, () => "1:a").join(",")})`,
  "a".repeat(9000),
  "row(1:**ffffff,1:a~)",
])("%s is refused", text => {
  expect(read(text)).toBeUndefined();
});

test("sizes are read as parts of their sum", () => {
  const tree = read("column(1:a,3:row(50:b,50:c))");
  expect(tree).toMatchObject({ direction: "column", sizes: [0.25, 0.75] });
  expect(tree && leavesOf(tree).map(({ kind }) => kind)).toEqual(["a", "b", "c"]);
});
