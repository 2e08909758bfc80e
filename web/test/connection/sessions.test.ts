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
  const fetch = gatewayResponds(201, { session: "abc", key: "k", kind: "owner", user: "owner" });
  const { signal } = new AbortController();
  expect(await beginSession(base, "secret", [], signal)).toEqual({ session: "abc.k", kind: "owner" });
  const [url, init] = fetch.mock.calls[0] as unknown as [URL, RequestInit];
  expect(url.href).toBe("https://gateway.test/hawse/v1/session");
  expect(init).toMatchObject({ method: "POST", headers: { Authorization: "Bearer secret" } });
  for (const answer of [{}, { session: "abc", kind: "owner" }, { session: "abc", key: "", kind: "owner" }]) {
    gatewayResponds(201, answer);
    await expect(beginSession(base, "secret", ["x.k"], signal)).rejects.toMatchObject({ code: "internal" });
  }
});

test("a session that the page has is continued with its key", async () => {
  const fetch = gatewayResponds(201, { session: "abc", key: "", kind: "guest" });
  const { signal } = new AbortController();
  const known = ["x.y", "abc.k"];
  expect(await beginSession(base, "secret", known, signal)).toEqual({ session: "abc.k", kind: "guest" });
  const [, init] = fetch.mock.calls[0] as unknown as [URL, RequestInit];
  expect(init.headers).toEqual({ Authorization: "Bearer secret", "Hawse-Session": "x.y, abc.k" });
});

test("a session is kept and ended by its id", async () => {
  const fetch = gatewayResponds(204);
  await keepSession(base, "abc.k");
  await endSession(base, "abc.k");
  const inits = fetch.mock.calls.map(([, init]) => init as RequestInit);
  expect(inits.map(init => init.method)).toEqual([undefined, "DELETE"]);
  for (const init of inits) expect(init.headers).toEqual({ "Hawse-Session": "abc.k" });
});
