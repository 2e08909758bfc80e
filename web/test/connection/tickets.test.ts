import { afterEach, expect, test, vi } from "vitest";
import { buyTicket } from "../../src/connection/tickets";

afterEach(() => void vi.unstubAllGlobals());

const base = new URL("https://gateway.test/hawse/");
const buy = () => buyTicket(base, "secret", new AbortController().signal);

function gatewayAnswers(status: number, body: unknown): ReturnType<typeof vi.fn> {
  const fetch = vi.fn(async () => new Response(JSON.stringify(body), { status }));
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

test("the token goes into a header, below the gateway's own path", async () => {
  const fetch = gatewayAnswers(201, { ticket: "t", expires_in: 30 });
  expect(await buy()).toBe("t");
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
])("%i is %s", async (status, body, code, retryable) => {
  gatewayAnswers(status, body ?? {});
  await expect(buy()).rejects.toMatchObject({ code, retryable });
});

test("no answer at all is worth another try", async () => {
  vi.stubGlobal("fetch", async () => {
    throw new TypeError("Failed to fetch");
  });
  await expect(buy()).rejects.toMatchObject({ code: "unavailable", retryable: true });
});
