import { expect, test } from "vitest";
import { PreviewAddresses, pathOf } from "../../../src/views/ports/address";
import { HawseError } from "../../../src/wire/errors";

test.each([
  ["", "/"],
  ["app", "/app"],
  ["/app?x=1#y", "/app?x=1#y"],
  ["localhost:5173/app", "/app"],
  ["http://localhost:5173", "/"],
  [":5173/a", "/a"],
  ["http://[::1]:80/a b", "/a b"],
  ["https://example.org/a?b", "/a?b"],
  ["//example.org/a", "/example.org/a"],
])("%s is the path %s", (text, path) => {
  expect(pathOf(text)).toBe(path);
});

test("the domain of previews is asked for once, and again after an error", async () => {
  let calls = 0;
  const call = async () => {
    calls++;
    if (calls === 1) throw new HawseError("interrupted", "lost");
    return { host: "localhost" };
  };
  const addresses = new PreviewAddresses({ call: call as never }, "box", "http://127.0.0.1:8080/");
  await expect(addresses.of({ port: 80, token: "t" })).rejects.toThrow("lost");
  expect(await addresses.of({ port: 80, token: "t" })).toBe("http://80-box-t.localhost:8080/");
  await addresses.of({ port: 81, token: "t" });
  expect(calls).toBe(2);
});
