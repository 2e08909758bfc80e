import { expect, test } from "vitest";
import type { Tree } from "../../src/frame/tree";
import { readAddress } from "../../src/page/address";
import { tabLink } from "../../src/page/page-address";

const HREF = "https://gateway.example/hawse/?sandbox=box&terminal=main#token=secret";
const leaf = (id: number, kind: string, state: Record<string, string>) =>
  ({ type: "leaf", id, kind, state }) as const;

test("a tab with one terminal has the address of the terminal", () => {
  const link = tabLink(HREF, { tree: leaf(1, "terminal", { id: "shell-2" }) });
  expect(link).toBe("https://gateway.example/hawse/?sandbox=box&terminal=shell-2");
});

test("a split is in the address, without a token, and is read from it", () => {
  const children = [leaf(1, "terminal", { id: "main" }), leaf(2, "editor", { path: "a b.py" })];
  const tree: Tree = { type: "split", direction: "row", sizes: [0.6, 0.4], children };
  const link = tabLink(HREF, { tree });
  const layout = "row(60:terminal~id~main,40:editor~path~a*0020b.py)";
  expect(link).toBe(`https://gateway.example/hawse/?sandbox=box&layout=${layout}`);
  expect(readAddress(link)).toMatchObject({ sandbox: "box", layout, token: undefined });
});
