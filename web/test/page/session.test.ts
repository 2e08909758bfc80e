import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PageSession } from "../../src/page/session";

const base = new URL("https://gateway.test/");
let requests: { method: string; path: string; headers: Record<string, string> }[];
let tab: Storage;
let browser: Storage;

function memory(): Storage {
  const map = new Map<string, string>();
  return {
    getItem: (key: string) => map.get(key) ?? null,
    setItem: (key: string, value: string) => void map.set(key, value),
    removeItem: (key: string) => void map.delete(key),
  } as unknown as Storage;
}

/** The gateway: the token `NAME` begins the session `s-NAME`, that of a guest if it begins with `link`. */
beforeEach(() => {
  [requests, tab, browser] = [[], memory(), memory()];
  vi.stubGlobal("document", { baseURI: base.href });
  vi.stubGlobal("fetch", async (url: URL, { method = "GET", headers }: RequestInit) => {
    const given = headers as Record<string, string>;
    requests.push({ method, path: url.pathname, headers: given });
    const token = given.Authorization?.slice(7);
    const kind = token?.startsWith("link") ? "guest" : "owner";
    return new Response(JSON.stringify({ session: `s-${token}`, kind, ticket: "t" }), { status: 201 });
  });
});

afterEach(() => void vi.unstubAllGlobals());

function open(given: { token?: string; session?: string } = {}): PageSession {
  return new PageSession({ tab: () => tab, browser: () => browser }, given);
}

function ticket(session: PageSession): Promise<string> {
  return session.ticket(base, "", new AbortController().signal);
}

test("a token is exchanged once, and is not stored", async () => {
  const session = open({ token: "a" });
  expect(session.credential).toBeDefined();
  expect(await ticket(session)).toBe("t");
  expect(await session.downloadTicket()).toBe("t");
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "POST /v1/session",
    "POST /v1/tickets",
    "POST /v1/tickets",
  ]);
  expect(requests[2]?.headers).toEqual({ "Hawse-Session": "s-a" });
  expect([tab, browser].map(one => one.getItem("hawse.session"))).toEqual(
    Array(2).fill('{"id":"s-a","guest":false}'),
  );
});

test("a reloaded and a new tab use the session", async () => {
  await ticket(open({ token: "a" }));
  await ticket(open());
  tab = memory();
  await ticket(open());
  expect(requests.slice(2).map(({ headers }) => headers["Hawse-Session"])).toEqual(["s-a", "s-a"]);
});

test("a link does not replace the user's own session in new tabs, but is kept in its tab", async () => {
  await ticket(open({ token: "a" }));
  tab = memory();
  const guest = open({ token: "link" });
  expect(guest.guestToken).toBeUndefined();
  await ticket(guest);
  expect(guest.guestToken).toBe("link");
  await ticket(open());
  tab = memory();
  await ticket(open());
  expect(requests.slice(4).map(({ headers }) => headers["Hawse-Session"])).toEqual(["s-link", "s-a"]);
  browser = memory();
  tab = memory();
  await ticket(open({ token: "link" }));
  tab = memory();
  expect(open().credential).toBeDefined(); // a guest without a session of another kind
});

test("a session that the gateway has begun is given in the address", async () => {
  await ticket(open({ session: "s-1" }));
  expect(requests.map(({ headers }) => headers)).toEqual([{ "Hawse-Session": "s-1" }]);
});

test("a session that has ended is forgotten, and another token begins the next", async () => {
  const session = open({ token: "a" });
  await ticket(session);
  await session.keep();
  await session.end();
  expect(requests.slice(2).map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /v1/session",
    "DELETE /v1/session",
  ]);
  session.forget();
  expect(session.credential).toBeUndefined();
  expect(open().credential).toBeUndefined();
  await session.keep();
  await session.end();
  expect(requests).toHaveLength(4);
  session.signIn("b");
  await ticket(session);
  expect(requests[5]?.headers).toEqual({ "Hawse-Session": "s-b" });
});

test("a failed exchange is made again with the next ticket", async () => {
  const session = open({ token: "a" });
  const { fetch } = globalThis;
  vi.stubGlobal("fetch", async () => new Response("{}", { status: 502 }));
  await expect(ticket(session)).rejects.toMatchObject({ code: "unavailable", retryable: true });
  vi.stubGlobal("fetch", fetch);
  expect(await ticket(session)).toBe("t");
});

test("a forbidden storage leaves the session in memory", async () => {
  const forbidden = () => {
    throw new Error("SecurityError");
  };
  const session = new PageSession({ tab: forbidden, browser: forbidden }, { token: "a" });
  expect(await ticket(session)).toBe("t");
  expect(await ticket(session)).toBe("t");
  session.forget();
  expect(session.credential).toBeUndefined();
});
