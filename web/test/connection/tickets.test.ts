import { afterEach, expect, test, vi } from "vitest";
import { requestTicket } from "../../src/connection/tickets";

afterEach(() => void vi.unstubAllGlobals());

const base = new URL("https://gateway.test/hawse/");
const request = () => requestTicket(base, "secret", new AbortController().signal);

function gatewayResponds(status: number, body: unknown): ReturnType<typeof vi.fn> {
  const fetch = vi.fn(async () => new Response(JSON.stringify(body), { status }));
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

test("the token is sent in a header, to a URL below the gateway's path", async () => {
  const fetch = gatewayResponds(201, { ticket: "t", expires_in: 30 });
  expect(await request()).toBe("t");
  const [url, init] = fetch.mock.calls[0] as unknown as [URL, RequestInit];
  expect(url.href).toBe("https://gateway.test/hawse/v1/tickets");
  expect(init).toMatchObject({ method: "POST", headers: { Authorization: "Bearer secret" } });
});

test.each([
  [401, { code: "unauthenticated" }, "unauthenticated", false],
  [403, { code: "origin_denied" }, "origin_denied", false],
  [429, { code: "limit_exceeded" }, "unavailable", true],
  [502, null, "unavailable", true],
  [404, null, "internal", false],
])("status %i is the error %s", async (status, body, code, retryable) => {
  gatewayResponds(status, body ?? {});
  await expect(request()).rejects.toMatchObject({ code, retryable });
});

test("an unreachable gateway is retryable", async () => {
  vi.stubGlobal("fetch", async () => {
    throw new TypeError("Failed to fetch");
  });
  await expect(request()).rejects.toMatchObject({ code: "unavailable", retryable: true });
});
