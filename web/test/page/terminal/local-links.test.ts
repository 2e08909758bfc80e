import { afterEach, expect, test, vi } from "vitest";
import { localAddress, openLink } from "../../../src/page/terminal/local-links";

afterEach(() => void vi.unstubAllGlobals());

test.each([
  ["http://localhost:5173/", { port: 5173, path: "/" }],
  ["http://127.0.0.1:8000/a?b=c#d", { port: 8000, path: "/a?b=c#d" }],
  ["http://0.0.0.0:3000", { port: 3000, path: "/" }],
  ["http://[::1]:8080/x", { port: 8080, path: "/x" }],
  ["https://localhost/x", { port: 443, path: "/x" }],
])("%s is a port of the sandbox", (uri, expected) => {
  expect(localAddress(uri)).toEqual(expected);
});

test.each(["https://example.org:5173/", "ftp://localhost/", "mailto:a@localhost", "not a link"])(
  "%s is not",
  uri => {
    expect(localAddress(uri)).toBeUndefined();
  },
);

test("links of the web open in a new tab, others do not", () => {
  const open = vi.fn();
  vi.stubGlobal("window", { open });
  for (const uri of ["https://example.org/", "mailto:a@b", "javascript:alert(1)", "file:///etc"])
    openLink(uri);
  expect(open.mock.calls.map(([uri]) => uri)).toEqual(["https://example.org/", "mailto:a@b"]);
});
