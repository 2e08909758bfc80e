// HTTP requests to the gateway, whose failures are HawseErrors: a ticket, a session.

import { HawseError } from "../wire/errors";

/** Sends a request and returns the fields of the answer. Throws HawseError; `retryable` if the network failed. */
export async function request(url: URL, init: RequestInit): Promise<Record<string, unknown>> {
  const response = await fetchOrUnavailable(url, { cache: "no-store", credentials: "same-origin", ...init });
  const body = await bodyOrUnavailable(response);
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

/**
 * A connection may be lost within the answer, which is no answer then: the request may be sent again. Without TLS,
 * browsers return an answer that ends within its headers like a complete one without a body.
 */
async function bodyOrUnavailable(response: Response): Promise<Record<string, unknown>> {
  const lost = () => new HawseError("unavailable", "the connection was lost while the gateway answered");
  const text = await response.text().catch(() => {
    throw lost();
  });
  try {
    return response.status === 204 ? {} : (JSON.parse(text) as Record<string, unknown>);
  } catch {
    if (response.ok || response.status < 200) throw lost();
    return {};
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
