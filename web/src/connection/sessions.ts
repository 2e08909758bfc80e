// Sessions: the gateway exchanges a token for a cookie that scripts cannot read (docs/wire.md section 1).

import { HawseError } from "../wire/errors";
import { request } from "./requests";

/** Names the session of a request, if the browser has several at this gateway. */
export const SESSION_HEADER = "Hawse-Session";

export interface SessionInfo {
  /** The id of the session in this browser. It is not secret. */
  session: string;
  /** The kind of the user: `owner`, `user`, or `guest` for a share link. */
  kind: string;
}

/** Exchanges a token for a session. Throws HawseError. */
export async function beginSession(base: URL, token: string, signal: AbortSignal): Promise<SessionInfo> {
  const init = { method: "POST", headers: { Authorization: `Bearer ${token}` }, signal };
  const { session, kind } = await request(new URL("v1/session", base), init);
  if (typeof session === "string" && typeof kind === "string") return { session, kind };
  throw new HawseError("internal", "the gateway answered without a session", { retryable: false });
}

/** Tells the gateway that a session is used, so that it does not end. Throws HawseError. */
export async function keepSession(base: URL, session: string): Promise<void> {
  await request(new URL("v1/session", base), { headers: { [SESSION_HEADER]: session } });
}

/** Ends a session: its connections are closed at once. Throws HawseError. */
export async function endSession(base: URL, session: string): Promise<void> {
  const init = { method: "DELETE", headers: { [SESSION_HEADER]: session } };
  await request(new URL("v1/session", base), init);
}
