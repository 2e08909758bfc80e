import { expect, test } from "vitest";
import { localAddress } from "../../src/page/local-links";

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
