import { afterEach, expect, test, vi } from "vitest";
import { request } from "../../src/connection/requests";

afterEach(() => void vi.unstubAllGlobals());

const send = () => request(new URL("https://gateway.test/v1/x"), {});

test("the fields of the answer are returned; an answer without JSON has none", async () => {
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ a: 1 }), { status: 201 }));
  expect(await send()).toEqual({ a: 1 });
  vi.stubGlobal("fetch", async () => new Response(null, { status: 204 }));
  expect(await send()).toEqual({});
});

test.each([
  [401, { code: "unauthenticated" }, "unauthenticated", false],
  [403, { code: "origin_denied" }, "origin_denied", false],
  [429, { code: "limit_exceeded" }, "unavailable", true],
  [408, null, "unavailable", true],
  [500, { code: "internal" }, "unavailable", true],
  [502, null, "unavailable", true],
  [404, null, "internal", false],
])("status %i is the error %s", async (status, body, code, retryable) => {
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify(body ?? {}), { status }));
  await expect(send()).rejects.toMatchObject({ code, retryable });
});

test("an unreachable gateway is retryable", async () => {
  vi.stubGlobal("fetch", async () => {
    throw new TypeError("Failed to fetch");
  });
  await expect(send()).rejects.toMatchObject({ code: "unavailable", retryable: true });
});

test("a connection that is lost within the answer is retryable", async () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"ticket": "'));
      controller.error(new TypeError("network error"));
    },
  });
  vi.stubGlobal("fetch", async () => new Response(body, { status: 201 }));
  await expect(send()).rejects.toMatchObject({ code: "unavailable", retryable: true });
});

test.each(['{"ticket": "abc', "", "<html>"])("an answer that ends early (%j) is retryable", async body => {
  vi.stubGlobal("fetch", async () => new Response(body, { status: 201 }));
  await expect(send()).rejects.toMatchObject({ code: "unavailable", retryable: true });
});

test("an unreachable gateway has the reason, if the runtime gives one", async () => {
  vi.stubGlobal("fetch", async () => {
    throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:1") });
  });
  await expect(send()).rejects.toThrow("the gateway is unreachable: connect ECONNREFUSED 127.0.0.1:1");
});

test.each([200, 404])("a page with status %i is not taken for a gateway", async status => {
  const headers = { "content-type": "text/html; charset=utf-8" };
  vi.stubGlobal("fetch", async () => new Response("<html>", { status, headers }));
  await expect(send()).rejects.toThrow("this may not be the address of a gateway");
});

test.each(["null", "7", '"text"'])("JSON that is not an object (%s) is not an answer", async body => {
  vi.stubGlobal("fetch", async () => new Response(body, { status: 201 }));
  await expect(send()).rejects.toMatchObject({ code: "unavailable", retryable: true });
});
