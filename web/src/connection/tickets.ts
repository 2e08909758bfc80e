// Requests tickets. A browser cannot set headers on a WebSocket, so it sends the token or its session id over HTTP and
// connects with the ticket it receives (docs/wire.md section 1).

import { HawseError } from "../wire/errors";
import { request } from "./requests";
import { sessionHeaders } from "./sessions";

/**
 * How long to wait for a response before resending the request while earlier requests continue, in milliseconds. The
 * browser may have sent a request on an idle connection that died when the network changed; the next request uses
 * another connection.
 */
export const REPEAT_AFTER = 1_000;
/**
 * Maximum number of concurrent requests. Browsers open at most six connections to a host (HTTP/1.1). If all six are
 * dead, a new one can be opened only once a request has ended, because that closes its connection.
 */
export const REQUESTS_MAX = 5;

/**
 * Returns a single-use ticket, valid for 30 s, from the first request that is answered. Throws HawseError, which is
 * `retryable` if the network failed. `signal` aborts all requests and thereby closes their connections.
 */
export function requestTicket(base: URL, token: string, signal: AbortSignal): Promise<string> {
  return requestFirst(base, { Authorization: `Bearer ${token}` }, signal);
}

/** Like `requestTicket`, but authenticates with a session. */
export function requestTicketOfSession(
  base: URL,
  session: string,
  signal: AbortSignal,
  partitioned = false,
): Promise<string> {
  return requestFirst(base, sessionHeaders([session], partitioned), signal);
}

async function requestFirst(
  base: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<string> {
  const running: AbortController[] = [];
  const end = () => {
    for (const each of running.splice(0)) each.abort();
  };
  signal.addEventListener("abort", end);
  let timer: ReturnType<typeof setInterval> | undefined;
  try {
    return await new Promise<string>((resolve, reject) => {
      const next = () => {
        if (signal.aborted) clearInterval(timer);
        const controller = new AbortController();
        running.push(controller);
        if (signal.aborted) end();
        // If a request has been replaced by a newer one, its error doesn't describe the state of the gateway.
        const failed = (problem: unknown) => {
          if (signal.aborted || running.includes(controller)) reject(problem);
        };
        requestOnce(base, headers, controller.signal).then(resolve, failed);
        if (running.length > REQUESTS_MAX) running.shift()?.abort();
      };
      timer = setInterval(next, REPEAT_AFTER);
      next();
    });
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", end);
    end();
  }
}

async function requestOnce(base: URL, headers: Record<string, string>, signal: AbortSignal): Promise<string> {
  const { ticket } = await request(new URL("v1/tickets", base), { method: "POST", headers, signal });
  if (typeof ticket === "string") return ticket;
  throw new HawseError("internal", "the gateway answered without a ticket", { retryable: false });
}
