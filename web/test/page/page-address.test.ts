import { afterEach, expect, test, vi } from "vitest";
import type { Tree } from "../../src/frame/tree";
import { TERMINAL, Workspace } from "../../src/frame/workspace";
import { readAddress } from "../../src/page/address";
import { PageAddress, tabLink } from "../../src/page/page-address";

afterEach(() => void vi.unstubAllGlobals());

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

test("after a reload, the tabs have the same order and the same one is shown", () => {
  const location = { href: "https://gateway.example/?sandbox=box&terminal=b" };
  const go = (_: unknown, __: string, link: string) => {
    location.href = link;
  };
  vi.stubGlobal("location", location);
  vi.stubGlobal("history", { state: null, pushState: go, replaceState: go });
  vi.stubGlobal("window", new EventTarget());
  const stored = new Map<string, string>();
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, text: string) => stored.set(key, text),
  };
  const load = () => {
    const workspace = new Workspace();
    const address = new PageAddress(workspace, () => storage as unknown as Storage);
    return { workspace, address };
  };
  const first = load();
  first.workspace.open(TERMINAL, { id: "a" });
  first.workspace.open("editor", { path: "notes.txt" });
  first.workspace.open(TERMINAL, { id: "a" }); // shown again
  first.address.dispose();
  const { workspace } = load();
  expect(workspace.texts()).toEqual(["terminal~id~b", "terminal~id~a", "editor~path~notes.txt"]);
  expect(workspace.current.value).toMatchObject({ tree: { state: { id: "a" } } });
  workspace.syncTerminals(["b", "a", "new"]);
  expect(workspace.texts().at(-1)).toBe("terminal~id~new");
});
