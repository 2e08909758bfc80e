import { expect, test } from "vitest";
import {
  readAddress,
  sandboxLink,
  shareLink,
  terminalLink,
  withoutToken,
  withSession,
} from "../../src/page/address";

test("sandbox and terminal have defaults, the token comes from the fragment", () => {
  expect(readAddress("http://x/#token=a%2Bb")).toEqual({
    sandbox: "local",
    terminal: "main",
    token: "a+b",
    session: undefined,
    proof: undefined,
  });
  expect(readAddress("http://x/?sandbox=s&terminal=t")).toEqual({
    sandbox: "s",
    terminal: "t",
    token: undefined,
    session: undefined,
    proof: undefined,
  });
  expect(readAddress("http://x/#session=abc.k&proof=p")).toMatchObject({ session: "abc.k", proof: "p" });
});

test("the token is removed from the URL, the rest stays", () => {
  expect(withoutToken("http://x/?terminal=t#token=secret")).toBe("http://x/?terminal=t");
  expect(withoutToken("http://x/#session=abc.k&proof=p")).toBe("http://x/");
  expect(withoutToken("http://x/#a=1&token=secret")).toBe("http://x/#a=1");
  expect(withoutToken("http://x/?q=%20#other")).toBe("http://x/?q=%20#other");
});

test("a link to share names the terminal and contains no token", () => {
  expect(shareLink("http://x/#token=secret")).toBe("http://x/?sandbox=local&terminal=main");
  expect(shareLink("http://x/#token=secret", "a b+")).toBe(
    "http://x/?sandbox=local&terminal=main#token=a+b%2B",
  );
});

test("a link to another sandbox does not name a terminal of this one and contains no token", () => {
  expect(sandboxLink("http://x/path/?sandbox=a&terminal=t#token=secret", "b")).toBe(
    "http://x/path/?sandbox=b",
  );
});

test("the session of a frame without storage is kept in links to other pages, but not in copied links", () => {
  const href = "http://x/path/?sandbox=a#session=abc.k";
  expect(withSession("home.html", href)).toBe("http://x/path/home.html#session=abc.k");
  expect(withSession("home.html", "http://x/path/#token=secret")).toBe("http://x/path/home.html");
  expect(sandboxLink(href, "b")).toBe("http://x/path/?sandbox=b#session=abc.k");
  expect(terminalLink(href, "t")).toBe("http://x/path/?sandbox=a&terminal=t");
  expect(shareLink(href)).toBe("http://x/path/?sandbox=a&terminal=main");
});

test("a link to another terminal keeps the sandbox and contains no token", () => {
  expect(terminalLink("http://x/#token=secret", "t")).toBe("http://x/?sandbox=local&terminal=t");
  expect(terminalLink("http://x/?sandbox=b&terminal=a", "t")).toBe("http://x/?sandbox=b&terminal=t");
});
