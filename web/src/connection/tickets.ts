// A browser cannot set headers on a WebSocket, so it buys a ticket first (docs/wire.md section 1).

import { HawseError } from "../wire/errors";

/** Resolves with a ticket that works once, for 30 s. Throws HawseError; one that is `retryable` is about the network. */
export async function buyTicket(base: URL, token: string, signal: AbortSignal): Promise<string> {
  const response = await reach(new URL("v1/tickets", base), {
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

async function reach(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch {
    throw new HawseError("unavailable", "the gateway cannot be reached");
  }
}

function refusal(response: Response, body: Record<string, unknown>): HawseError {
  const { status } = response;
  const words = typeof body.message === "string" ? body.message : `the gateway answered ${status}`;
  if (status === 401) return new HawseError("unauthenticated", words);
  // Between us and a gateway that restarts, a proxy answers; so does a gateway that has too much to do.
  if (status === 429 || status >= 502) return new HawseError("unavailable", words);
  if (typeof body.code === "string") return new HawseError(body.code, words, { retryable: false });
  return new HawseError(status === 403 ? "forbidden" : "internal", words, { retryable: false });
}
