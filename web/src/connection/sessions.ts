// Sessions: the gateway exchanges a token for a key and a cookie that scripts can't read. Programs on other ports of
// the host receive the cookie too, so a request is accepted only with both (docs/wire.md section 1).

import { HawseError } from "../wire/errors";
import { request } from "./requests";

/** Header with the id and key of the request's session: `ID.KEY`. */
const SESSION_HEADER = "Hawse-Session";

/** Header of requests from a page in a frame. It asks for a partitioned cookie. */
const FRAMED_HEADER = "Hawse-Framed";

/**
 * Returns the headers of a request with sessions.
 *
 * @param partitioned - Whether the sessions have partitioned cookies.
 */
export function sessionHeaders(sessions: readonly string[], partitioned: boolean): Record<string, string> {
  const headers: Record<string, string> = {};
  if (sessions.length > 0) headers[SESSION_HEADER] = sessions.join(", ");
  if (partitioned) headers[FRAMED_HEADER] = "1";
  return headers;
}

export interface SessionInfo {
  /** The session's id and key, as sent in the header. */
  session: string;
  /** The kind of the user: `owner`, `user`, or `guest` for a share link. */
  kind: string;
}

/**
 * Exchanges a token for a session. Throws HawseError.
 *
 * @param known - The page's sessions. If one was started with this token, it is continued.
 * @param partitioned - Whether to use a partitioned cookie, which browsers also accept in a frame on another site.
 */
export async function beginSession(
  base: URL,
  token: string,
  known: readonly string[],
  signal: AbortSignal,
  partitioned = false,
): Promise<SessionInfo> {
  const headers = { Authorization: `Bearer ${token}`, ...sessionHeaders(known, partitioned) };
  const answer = await request(new URL("v1/session", base), { method: "POST", headers, signal });
  const { session: id, key, kind } = answer;
  const session = key ? `${id}.${key}` : known.find(each => each.startsWith(`${id}.`));
  if (typeof id === "string" && session && typeof kind === "string") return { session, kind };
  throw new HawseError("internal", "the gateway answered without a session", { retryable: false });
}

/** Marks a session as used so that it doesn't expire. Throws HawseError. */
export async function keepSession(base: URL, session: string, partitioned = false): Promise<void> {
  await request(new URL("v1/session", base), { headers: sessionHeaders([session], partitioned) });
}

/** Ends a session and immediately closes its connections. Throws HawseError. */
export async function endSession(base: URL, session: string, partitioned = false): Promise<void> {
  const init = { method: "DELETE", headers: sessionHeaders([session], partitioned) };
  await request(new URL("v1/session", base), init);
}
