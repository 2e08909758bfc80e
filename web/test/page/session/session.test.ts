import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  type Frame,
  type GivenCredentials,
  PageSession,
  sessionOfPage,
} from "../../../src/page/session/session";

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

/**
 * The gateway: the token `NAME` begins the session `s-NAME`, that of a guest if it begins with `hws_`. A page that has
 * the session gets no key.
 */
beforeEach(() => {
  [requests, tab, browser] = [[], memory(), memory()];
  vi.stubGlobal("document", { baseURI: base.href });
  vi.stubGlobal("location", { pathname: "/", search: "?sandbox=a", href: `${base}?sandbox=a` });
  vi.stubGlobal("fetch", async (url: URL, { method = "GET", headers }: RequestInit) => {
    const given = headers as Record<string, string>;
    requests.push({ method, path: url.pathname, headers: given });
    const token = given.Authorization?.slice(7);
    if (token === "hws_counted" && url.pathname === "/v1/tickets")
      return new Response('{"code":"forbidden"}', { status: 403 });
    const kind = token?.startsWith("hws_") ? "guest" : "owner";
    const key = given["Hawse-Session"]?.includes(`s-${token}.`) ? "" : "k";
    return new Response(JSON.stringify({ session: `s-${token}`, key, kind, ticket: "t" }), { status: 201 });
  });
});

afterEach(() => void vi.unstubAllGlobals());

function open(given: GivenCredentials = {}): PageSession {
  return new PageSession({ tab: () => tab, browser: () => browser }, given);
}

/** Returns the session of a page in a frame, which has the storage `tab`. */
function embed(given: GivenCredentials, frame: Frame = { partitioned: true, cookies: true }): PageSession {
  return new PageSession({ tab: () => tab, browser: () => tab }, given, frame);
}

const NO_COOKIES: Frame = { partitioned: true, cookies: false };

function ticket(session: PageSession): Promise<string> {
  return session.ticket(base, "", new AbortController().signal);
}

function sent(first = 0): (string | undefined)[] {
  return requests.slice(first).map(({ headers }) => headers["Hawse-Session"]);
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
  expect(sent()).toEqual([undefined, "s-a.k", "s-a.k"]);
  expect([tab, browser].map(one => one.getItem("hawse.session"))).toEqual(
    Array(2).fill('{"session":"s-a.k","guest":false}'),
  );
});

test("a reloaded and a new tab use the session", async () => {
  await ticket(open({ token: "a" }));
  await ticket(open());
  tab = memory();
  await ticket(open());
  expect(sent(2)).toEqual(["s-a.k", "s-a.k"]);
});

test("a link does not replace the user's own session in new tabs, but is kept in its tab", async () => {
  await ticket(open({ token: "a" }));
  tab = memory();
  const guest = open({ token: "hws_b" });
  expect(guest.guestToken).toBeUndefined();
  await ticket(guest);
  expect(guest.guestToken).toBe("hws_b");
  await ticket(open());
  tab = memory();
  await ticket(open());
  expect(sent(4)).toEqual(["s-hws_b.k", "s-a.k"]);
  browser = memory();
  tab = memory();
  await ticket(open({ token: "hws_b" }));
  tab = memory();
  expect(open().credential).toBeDefined(); // a guest without a session of another kind
});

test("a link that is opened again in another tab continues its session", async () => {
  await ticket(open({ token: "hws_b" }));
  await ticket(open({ token: "a" }));
  tab = memory();
  await ticket(open({ token: "hws_b" }));
  expect(sent(4)).toEqual(["s-a.k, s-hws_b.k", "s-hws_b.k"]);
});

test("a session of before, without a key, leads to signing in", () => {
  for (const storage of [tab, browser]) storage.setItem("hawse.session", '{"id":"0123","guest":false}');
  expect(open().credential).toBeUndefined();
});

test("a session of a login is used only by the page that has started the login", async () => {
  const { proof } = open();
  expect(proof).toMatch(/^[0-9a-f]{48}$/);
  expect(open().proof).toBe(proof); // also after a reload
  for (const given of [{ session: "s.k" }, { session: "s.k", proof: "another" }, { proof }])
    expect(open(given).credential).toBeUndefined();
  await ticket(open({ session: "s.k", proof }));
  expect(sent()).toEqual(["s.k"]);
  [tab, browser] = [memory(), memory()];
  expect(open({ session: "s.k", proof }).credential).toBeUndefined(); // in another tab
});

test("an ended session is forgotten, and another token starts the next", async () => {
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
  expect(requests).toHaveLength(4);
  session.signIn("b");
  await ticket(session);
  expect(sent(4)).toEqual([undefined, "s-b.k"]);
});

test("a guest whose link has ended is one also after a reload, but not at another address", async () => {
  const session = open({ token: "hws_b" });
  await ticket(session);
  session.forget();
  expect(session.signedInWith).toBe("link");
  expect([open().signedInWith, open().credential]).toEqual(["link", undefined]);
  vi.stubGlobal("location", { pathname: "/home.html", search: "" });
  expect(open().signedInWith).toBe("token");
  expect(open({ token: "hws_c" }).signedInWith).toBe("link");
});

test("a guest who signs out can sign in", async () => {
  const session = open({ token: "hws_b" });
  await ticket(session);
  await session.end();
  session.forget();
  expect([session.signedInWith, open().signedInWith]).toEqual(["token", "token"]);
});

test("a sign-out that fails leaves the guest signed in", async () => {
  const session = open({ token: "hws_b" });
  await ticket(session);
  vi.stubGlobal("fetch", async () => new Response("{}", { status: 502 }));
  await expect(session.end()).rejects.toMatchObject({ code: "unavailable" });
  expect(session.signedInWith).toBe("link");
});

test("a page in a frame exchanges its token for a session with a partitioned cookie, and keeps it in its tab", async () => {
  const replaceState = vi.fn();
  vi.stubGlobal("history", { state: null, replaceState });
  vi.stubGlobal("location", { href: `${base}?sandbox=a#token=a` });
  const session = embed({ token: "a" });
  await ticket(session);
  await session.keep();
  expect(replaceState).toHaveBeenCalledWith(null, "", `${base}?sandbox=a`);
  expect(browser.getItem("hawse.session")).toBeNull();
  await ticket(embed({})); // after a reload of the frame
  await ticket(embed({ token: "a" })); // after a reload of the page around it
  await session.end();
  expect(sent()).toEqual([undefined, "s-a.k", "s-a.k", "s-a.k", "s-a.k", "s-a.k", "s-a.k"]);
  expect(requests.map(({ headers }) => headers["Hawse-Framed"])).toEqual(Array(7).fill("1"));
});

test("outside a frame, and in a frame of an insecure page, no partitioned cookie is requested", async () => {
  vi.stubGlobal("history", { replaceState: vi.fn() });
  await ticket(open({ token: "a" }));
  await ticket(embed({ token: "b" }, { partitioned: false, cookies: true }));
  expect(requests.filter(({ headers }) => "Hawse-Framed" in headers)).toEqual([]);
});

test("a frame without storage keeps its session in its address", async () => {
  const replaceState = vi.fn();
  vi.stubGlobal("history", { state: null, replaceState });
  vi.stubGlobal("location", { pathname: "/", search: "", href: `${base}#token=a` });
  tab = new Proxy(tab, {
    get: () => {
      throw new Error("SecurityError");
    },
  });
  await ticket(embed({ token: "a" }));
  expect(replaceState).toHaveBeenCalledWith(null, "", `${base}#session=s-a.k`);
  vi.stubGlobal("location", { pathname: "/", search: "", href: `${base}#session=s-a.k` });
  const reloaded = embed({ session: "s-a.k" });
  await ticket(reloaded);
  expect(sent(2)).toEqual(["s-a.k"]);
  reloaded.forget();
  expect(replaceState).toHaveBeenLastCalledWith(null, "", base.href);
});

test("a frame whose cookie is refused keeps its token in memory", async () => {
  for (const token of ["a", "hws_b"]) {
    const session = embed({ token }, NO_COOKIES);
    expect(await ticket(session)).toBe("t");
    expect(await ticket(session)).toBe("t");
    expect(session.guestToken).toBe(token === "a" ? undefined : token);
  }
  expect(requests.map(({ path, headers }) => [path, headers.Authorization])).toEqual(
    ["a", "a", "hws_b", "hws_b"].map(token => ["/v1/tickets", `Bearer ${token}`]),
  );
  expect(tab.getItem("hawse.session")).toBeNull();
});

test("a link that counts its uses needs a cookie, and is not used without one", async () => {
  await expect(ticket(embed({ token: "hws_counted" }, NO_COOKIES))).rejects.toMatchObject({
    code: "cookie_refused",
    message: expect.stringContaining("Open the link in a new tab."),
    retryable: false,
  });
  expect(requests.map(({ path }) => path)).toEqual(["/v1/tickets"]);
});

test("signing out in a frame forgets the token and its address", async () => {
  const [replaceState, reload] = [vi.fn(), vi.fn()];
  vi.stubGlobal("history", { state: null, replaceState });
  vi.stubGlobal("location", { pathname: "/", search: "", href: `${base}#token=a`, reload });
  const session = embed({ token: "a" }, NO_COOKIES);
  await ticket(session);
  expect(replaceState).not.toHaveBeenCalled();
  await session.end();
  expect(replaceState).toHaveBeenCalledWith(null, "", base.href);
  expect(reload).toHaveBeenCalledOnce();
  expect(session.credential).toBeUndefined();
});

test("the credentials of an address are removed, in a frame only once it has a session", () => {
  const replaceState = vi.fn();
  vi.stubGlobal("history", { state: null, replaceState });
  vi.stubGlobal("sessionStorage", tab);
  vi.stubGlobal("localStorage", browser);
  vi.stubGlobal("location", { pathname: "/", search: "", href: `${base}#token=a` });
  const address = {
    sandbox: "local",
    terminal: "main",
    layout: undefined,
    token: "a",
    session: undefined,
    proof: undefined,
  };
  vi.stubGlobal("window", { self: 1, top: 2 });
  vi.stubGlobal("isSecureContext", true);
  expect(sessionOfPage(address).credential).toBeDefined();
  expect(replaceState).not.toHaveBeenCalled();
  vi.stubGlobal("window", { self: 1, top: 1 });
  expect(sessionOfPage(address).credential).toBeDefined();
  expect(replaceState).toHaveBeenCalledWith(null, "", base.href);
});

test("a failed exchange is repeated with the next ticket", async () => {
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
  tab = new Proxy(tab, { get: forbidden });
  browser = tab;
  const session = open({ token: "a" });
  expect(await ticket(session)).toBe("t");
  expect(await ticket(session)).toBe("t");
  session.forget();
  expect(session.credential).toBeUndefined();
});
