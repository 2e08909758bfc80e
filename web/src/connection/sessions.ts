// Sessions: the gateway exchanges a token for a cookie that scripts cannot read and a key. Programs at other ports of the
// host get the cookie, so a request counts only with the key as well (docs/wire.md section 1).

import { HawseError } from "../wire/errors";
import { request } from "./requests";

/** Contains the id and the key of the session of a request: `ID.KEY`. */
export const SESSION_HEADER = "Hawse-Session";

export interface SessionInfo {
  /** The id and the key, as the header contains them. */
  session: string;
  /** The kind of the user: `owner`, `user`, or `guest` for a share link. */
  kind: string;
}

/**
 * Exchanges a token for a session. Throws HawseError.
 *
 * @param known - The sessions that the page has: one with this token is continued.
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

/** Marks a session as in use, so that it does not expire. Throws HawseError. */
export async function keepSession(base: URL, session: string): Promise<void> {
  await request(new URL("v1/session", base), { headers: { [SESSION_HEADER]: session } });
}

/** Ends a session: its connections are closed at once. Throws HawseError. */
export async function endSession(base: URL, session: string): Promise<void> {
  const init = { method: "DELETE", headers: { [SESSION_HEADER]: session } };
  await request(new URL("v1/session", base), init);
}
