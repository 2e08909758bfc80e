// Requests a ticket. A browser cannot set headers on a WebSocket, so it sends the token over HTTP and connects
// with the ticket (docs/wire.md section 1).

import { HawseError } from "../wire/errors";

/**
 * Milliseconds without an answer after which the request is made again, while the earlier ones go on. The browser may
 * send a request on an idle connection that is dead since the network has changed; the next request then uses another.
 */
export const REPEAT_AFTER = 1_000;
/** Number of requests at a time: browsers open at most six connections to a host (HTTP/1.1). */
export const REQUESTS_MAX = 6;

/**
 * Returns a single-use ticket, valid for 30 s: that of the first request that is answered. Throws HawseError; it is
 * `retryable` if the network failed. `signal` ends all requests, which closes their connections.
 */
export async function requestTicket(base: URL, token: string, signal: AbortSignal): Promise<string> {
  const abort = new AbortController();
  const end = () => abort.abort();
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  let timer: ReturnType<typeof setInterval> | undefined;
  try {
    return await new Promise<string>((resolve, reject) => {
      let count = 0;
      const request = () => {
        count++;
        if (count === REQUESTS_MAX) clearInterval(timer);
        requestOnce(base, token, abort.signal).then(resolve, reject);
      };
      timer = setInterval(request, REPEAT_AFTER);
      request();
    });
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", end);
    abort.abort();
  }
}

async function requestOnce(base: URL, token: string, signal: AbortSignal): Promise<string> {
  const response = await fetchOrUnavailable(new URL("v1/tickets", base), {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    cache: "no-store",
    credentials: "same-origin",
    signal,
  });
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (response.ok && typeof body.ticket === "string") return body.ticket;
  throw refusal(response, body);
}

async function fetchOrUnavailable(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch {
    throw new HawseError("unavailable", "the gateway is unreachable");
  }
}

function refusal(response: Response, body: Record<string, unknown>): HawseError {
  const { status } = response;
  const text =
    typeof body.message === "string" ? body.message : `the gateway answered with HTTP status ${status}`;
  if (status === 401) return new HawseError("unauthenticated", text);
  // A proxy in front of a restarting gateway, or an overloaded gateway.
  if (status === 429 || status >= 502) return new HawseError("unavailable", text);
  if (typeof body.code === "string") return new HawseError(body.code, text, { retryable: false });
  return new HawseError(status === 403 ? "forbidden" : "internal", text, { retryable: false });
}
