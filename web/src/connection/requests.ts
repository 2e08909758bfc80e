// HTTP requests to the gateway for tickets and sessions. Failures are reported as HawseErrors.

import { HawseError } from "../wire/errors";

/** HTTP statuses below 500 that are worth retrying. */
const RETRIED = new Set([408, 425, 429]);

/**
 * Sends a request and returns the fields of the response. Throws HawseError, which is `retryable` if the network
 * failed.
 */
export async function request(url: URL, init: RequestInit): Promise<Record<string, unknown>> {
  const response = await fetchOrUnavailable(url, { cache: "no-store", credentials: "same-origin", ...init });
  const body = await bodyOrUnavailable(url, response);
  if (response.ok) return body;
  throw refusal(response, body);
}

async function fetchOrUnavailable(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (problem) {
    // Node reports the reason, such as ECONNREFUSED; browsers hide it.
    const cause = problem instanceof Error && problem.cause instanceof Error ? problem.cause : undefined;
    const reason = cause?.message || (cause as { code?: string } | undefined)?.code;
    throw new HawseError("unavailable", `the gateway is unreachable${reason ? `: ${reason}` : ""}`);
  }
}

/**
 * If the connection is lost during the response, the request can be resent. Without TLS, browsers treat a response that
 * is cut off in the middle of its headers as complete, with no body.
 */
async function bodyOrUnavailable(url: URL, response: Response): Promise<Record<string, unknown>> {
  const lost = () =>
    new HawseError(
      "unavailable",
      response.headers.get("content-type")?.startsWith("text/html")
        ? `${url.origin} answered with a page: this may not be the address of a gateway`
        : "the connection was lost while the gateway answered",
    );
  const text = await response.text().catch(() => {
    throw lost();
  });
  try {
    const body: unknown = response.status === 204 ? {} : JSON.parse(text);
    if (typeof body === "object" && body !== null) return body as Record<string, unknown>;
    throw new SyntaxError("not an object");
  } catch {
    if (response.ok || response.status < 200) throw lost();
    return {};
  }
}

function refusal(response: Response, body: Record<string, unknown>): HawseError {
  const { status } = response;
  const text =
    typeof body.message === "string"
      ? body.message
      : `HTTP status ${status} without a reason: this may not be the address of a gateway`;
  if (status === 401) return new HawseError("unauthenticated", text);
  // These statuses are sent by a proxy in front of a restarting gateway, or by an overloaded gateway.
  if (RETRIED.has(status) || status >= 500) return new HawseError("unavailable", text);
  if (typeof body.code === "string") return new HawseError(body.code, text, { retryable: false });
  return new HawseError(status === 403 ? "forbidden" : "internal", text, { retryable: false });
}
