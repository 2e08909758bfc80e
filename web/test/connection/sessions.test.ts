import { afterEach, expect, test, vi } from "vitest";
import { beginSession, endSession, keepSession } from "../../src/connection/sessions";

afterEach(() => void vi.unstubAllGlobals());

const base = new URL("https://gateway.test/hawse/");

function gatewayResponds(status: number, body?: unknown): ReturnType<typeof vi.fn> {
  const fetch = vi.fn(async () => new Response(body === undefined ? null : JSON.stringify(body), { status }));
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

test("a token is exchanged for a session", async () => {
  const fetch = gatewayResponds(201, { session: "abc", kind: "owner", user: "owner" });
  const { signal } = new AbortController();
  expect(await beginSession(base, "secret", signal)).toEqual({ session: "abc", kind: "owner" });
  const [url, init] = fetch.mock.calls[0] as unknown as [URL, RequestInit];
  expect(url.href).toBe("https://gateway.test/hawse/v1/session");
  expect(init).toMatchObject({ method: "POST", headers: { Authorization: "Bearer secret" } });
  gatewayResponds(201, {});
  await expect(beginSession(base, "secret", signal)).rejects.toMatchObject({ code: "internal" });
});

test("a session is kept and ended by its id", async () => {
  const fetch = gatewayResponds(204);
  await keepSession(base, "abc");
  await endSession(base, "abc");
  const inits = fetch.mock.calls.map(([, init]) => init as RequestInit);
  expect(inits.map(init => init.method)).toEqual([undefined, "DELETE"]);
  for (const init of inits) expect(init.headers).toEqual({ "Hawse-Session": "abc" });
});
