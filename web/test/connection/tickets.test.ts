import { afterEach, expect, test, vi } from "vitest";
import {
  REPEAT_AFTER,
  REQUESTS_MAX,
  requestTicket,
  requestTicketOfSession,
} from "../../src/connection/tickets";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

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

test("the cookie of a session is used, which a header names", async () => {
  const fetch = gatewayResponds(201, { ticket: "t", expires_in: 30 });
  expect(await requestTicketOfSession(base, "abc", new AbortController().signal)).toBe("t");
  const [, init] = fetch.mock.calls[0] as unknown as [URL, RequestInit];
  expect(init).toMatchObject({ credentials: "same-origin", headers: { "Hawse-Session": "abc" } });
});

test("an answer without a ticket is an error", async () => {
  gatewayResponds(200, {});
  await expect(request()).rejects.toMatchObject({ code: "internal", retryable: false });
});

/** The first `dead` requests are never answered, as on a dead connection; their signals are returned. */
function firstRequestsHang(dead: number): AbortSignal[] {
  vi.useFakeTimers();
  const signals: AbortSignal[] = [];
  vi.stubGlobal("fetch", async (_: URL, { signal }: { signal: AbortSignal }) => {
    signals.push(signal);
    if (signals.length > dead) return new Response(JSON.stringify({ ticket: "t" }), { status: 201 });
    return new Promise<Response>((_, reject) =>
      signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))),
    );
  });
  return signals;
}

test("a request without an answer is repeated, and all end with the first answer", async () => {
  const signals = firstRequestsHang(3);
  const ticket = request();
  await vi.advanceTimersByTimeAsync(3 * REPEAT_AFTER);
  expect(await ticket).toBe("t");
  expect(signals.map(signal => signal.aborted)).toEqual([true, true, true, true]);
  await vi.advanceTimersByTimeAsync(100 * REPEAT_AFTER);
  expect(signals).toHaveLength(4);
});

test("more dead connections than a browser opens do not stop the requests: the oldest one ends for the next", async () => {
  const signals = firstRequestsHang(7);
  const ticket = request();
  await vi.advanceTimersByTimeAsync(7 * REPEAT_AFTER);
  expect(await ticket).toBe("t");
  expect(signals).toHaveLength(8);
});

test("the number of requests at a time is bounded, and an abort ends all of them", async () => {
  const signals = firstRequestsHang(Number.POSITIVE_INFINITY);
  const abort = new AbortController();
  const ticket = requestTicket(base, "secret", abort.signal);
  await vi.advanceTimersByTimeAsync(9 * REPEAT_AFTER);
  expect(signals.filter(signal => !signal.aborted)).toHaveLength(REQUESTS_MAX);
  abort.abort();
  await expect(ticket).rejects.toMatchObject({ code: "unavailable", retryable: true });
  expect(signals.every(signal => signal.aborted)).toBe(true);
});
