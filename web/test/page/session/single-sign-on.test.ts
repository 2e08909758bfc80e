import { afterEach, expect, test, vi } from "vitest";
import { loginAddress, showSingleSignOn } from "../../../src/page/session/single-sign-on";

const BASE = new URL("https://hawse.example/");

afterEach(() => vi.unstubAllGlobals());

async function shown(answer: () => Promise<Response>, framed = false) {
  vi.stubGlobal("fetch", answer);
  const link = { hidden: true, textContent: "", href: "" };
  await showSingleSignOn(
    link as HTMLAnchorElement,
    BASE,
    "https://hawse.example/?terminal=main#token=secret",
    "p",
    framed,
  );
  return link;
}

test("the link names the provider and comes back to the page without its token", async () => {
  expect(await shown(async () => Response.json({ provider: "id.example" }))).toEqual({
    hidden: false,
    textContent: "Sign in with id.example",
    href: "https://hawse.example/v1/login?return=%2F%3Fterminal%3Dmain&proof=p",
  });
});

test("in a frame, where a login is impossible, the link opens the page in a new tab", async () => {
  expect(await shown(async () => Response.json({ provider: "id.example" }), true)).toEqual({
    hidden: false,
    textContent: "Open in a new tab to sign in with id.example",
    href: "https://hawse.example/?terminal=main",
    target: "_blank",
  });
});

test("without a provider, or with a gateway that is older or unreachable, there is no link", async () => {
  for (const answer of [
    async () => Response.json({ provider: null }),
    async () => new Response("{}", { status: 401 }),
    () => Promise.reject(new TypeError("network")),
  ])
    expect((await shown(answer)).hidden).toBe(true);
});

test("the address of a page in a folder is kept", () => {
  const base = new URL("https://hawse.example/tools/");
  expect(loginAddress(base, "https://hawse.example/tools/?sandbox=a", "p")).toBe(
    "https://hawse.example/tools/v1/login?return=%2Ftools%2F%3Fsandbox%3Da&proof=p",
  );
});
