// Sessions: the gateway exchanges a token for a key and a cookie that scripts can't read. Programs on other ports of
// the host receive the cookie too, so a request is accepted only with both (docs/wire.md section 1).

import { HawseError } from "../wire/errors";
import { request } from "./requests";

/** Header with the id and key of the request's session: `ID.KEY`. */
export const SESSION_HEADER = "Hawse-Session";

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
 */
export async function beginSession(
  base: URL,
  token: string,
  known: readonly string[],
  signal: AbortSignal,
): Promise<SessionInfo> {
  const headers: Record<string, string> = { Authorization: `Bearer ${token}` };
  if (known.length > 0) headers[SESSION_HEADER] = known.join(", ");
  const answer = await request(new URL("v1/session", base), { method: "POST", headers, signal });
  const { session: id, key, kind } = answer;
  const session = key ? `${id}.${key}` : known.find(each => each.startsWith(`${id}.`));
  if (typeof id === "string" && session && typeof kind === "string") return { session, kind };
  throw new HawseError("internal", "the gateway answered without a session", { retryable: false });
}

/** Marks a session as used so that it doesn't expire. Throws HawseError. */
export async function keepSession(base: URL, session: string): Promise<void> {
  await request(new URL("v1/session", base), { headers: { [SESSION_HEADER]: session } });
}

/** Ends a session and immediately closes its connections. Throws HawseError. */
export async function endSession(base: URL, session: string): Promise<void> {
  const init = { method: "DELETE", headers: { [SESSION_HEADER]: session } };
  await request(new URL("v1/session", base), init);
}
