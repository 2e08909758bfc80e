// HTTP requests to the gateway, whose failures are HawseErrors: a ticket, a session.

import { HawseError } from "../wire/errors";

/** Sends a request and returns the fields of the answer. Throws HawseError; `retryable` if the network failed. */
export async function request(url: URL, init: RequestInit): Promise<Record<string, unknown>> {
  const response = await fetchOrUnavailable(url, { cache: "no-store", credentials: "same-origin", ...init });
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (response.ok) return body;
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
