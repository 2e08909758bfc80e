// Derives the page's status from the state of the connection and the terminal. These functions are pure; the page
// displays the result.

import type { SandboxStarting } from "../client/channels";
import { errorText } from "../client/error-text";
import type { ConnectionState } from "../connection/reconnecting";
import type { TerminalState } from "../terminal/terminal-channel";
import type { HawseError } from "../wire/errors";
import type { Exit } from "../wire/methods";
import type { SignedInWith } from "./session/session";

export type StatusKind =
  | "connecting"
  | "live"
  | "reconnecting"
  | "offline"
  | "ended"
  | "signed-out"
  | "failed";

export interface Status {
  kind: StatusKind;
  /** Short text for the header. */
  label: string;
  /** Sentence for the notice or dialog. */
  text: string;
  error?: HawseError;
  /** Whether the user is a guest whose link has ended, and so has no token to sign in with. */
  linkEnded?: boolean;
}

export const LINK_ENDED = "It was revoked or has expired. Ask the person who sent it for another one.";
/** Once the connection has been lost for this long, in milliseconds, the status shows the time when it was lost. */
const LONG = 10_000;
/** Once the connection has been lost for this long, in milliseconds, the status also gives advice. */
const VERY_LONG = 60_000;

/** The toast shown if an action needs the gateway while the page is disconnected. */
export const NOT_CONNECTED = "Not connected to the gateway. Try again after it has reconnected.";

export interface StatusInput {
  connection: ConnectionState;
  terminal: TerminalState;
  /** navigator.onLine, which is reliable only if it's false. */
  online: boolean;
  /** Time on the performance.now() clock. */
  now: number;
  /** Milliseconds since 1970. */
  time: number;
  /** Whether this page has been connected before. */
  connectedBefore: boolean;
  /** Whether this page can only view, and therefore can't start a shell. */
  readOnly: boolean;
  /** Startup progress while the sandbox is starting. */
  starting?: Pick<SandboxStarting, "phase" | "progress"> | undefined;
}

export function statusOf(input: StatusInput): Status {
  const { connection, terminal, online, connectedBefore, starting, readOnly } = input;
  if (connection.phase === "failed") return failure(connection.reason);
  if (connection.phase === "signed-out") return signedOut(connection.reason);
  if (terminal.phase === "failed") return failure(terminal.reason);
  if (terminal.phase === "ended") return { kind: "ended", label: "Ended", text: ending(terminal, readOnly) };
  if (connection.phase === "live" && terminal.phase !== "attaching" && terminal.phase !== "detached") {
    return { kind: "live", label: "Live", text: "Connected" };
  }
  if (!online) return { kind: "offline", label: "Offline", text: lostText(input, "No network") };
  if (connection.phase === "waiting") return waiting(input, Math.max(0, connection.retryAt - input.now));
  if (connectedBefore)
    return { kind: "reconnecting", label: "Reconnecting", text: lostText(input, "Reconnecting") };
  const text = connection.phase === "live" && starting ? startingText(starting) : "Connecting";
  return { kind: "connecting", label: "Connecting", text };
}

function startingText({ phase, progress }: Pick<SandboxStarting, "phase" | "progress">): string {
  const part = progress == null ? "" : ` ${Math.round(progress * 100)} %`;
  return phase === "starting" ? `Starting the sandbox${part}` : `Starting the sandbox: ${phase}${part}`;
}

function waiting(input: StatusInput, milliseconds: number): Status {
  const seconds = Math.ceil(milliseconds / 1000);
  const when = seconds > 1 ? ` in ${seconds} s` : "";
  const label = `${input.connectedBefore ? "Reconnecting" : "Retrying"}${when}`;
  return { kind: "reconnecting", label, text: lostText(input, label) };
}

/** `now` describes the current state: `No network` or `Reconnecting in 8 s`. */
function lostText({ connection, connectedBefore, online, time }: StatusInput, now: string): string {
  const since = "since" in connection ? connection.since : time;
  const clock = new Date(since).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const long = online
    ? `${connectedBefore ? "Disconnected" : "No answer"} since ${clock}. ${now}`
    : `${now} since ${clock}`;
  const parts = [
    time - since < LONG ? now : long,
    connectedBefore ? "Your input is kept" : "",
    time - since < VERY_LONG || !online ? "" : "Check your network, and whether the gateway is running",
  ];
  return parts
    .filter(Boolean)
    .map(part => `${part}.`)
    .join(" ");
}

function signedOut(reason: HawseError | undefined): Status {
  const text = reason
    ? "The gateway rejected this token. It may be mistyped or from an earlier start of the gateway."
    : "";
  return { kind: "signed-out", label: "Signed out", text };
}

/**
 * Returns the status. If the user is signed out, the status gives a reason, which depends on the kind of credential
 * that is no longer valid.
 */
export function signedOutOf(status: Status, signedInWith: SignedInWith): Status {
  if (status.kind !== "signed-out") return status;
  if (signedInWith === "link")
    return { ...status, label: "Link ended", text: `This link has ended. ${LINK_ENDED}`, linkEnded: true };
  if (signedInWith === "session" && status.text)
    return { ...status, text: "Your session has ended. Sign in again." };
  return status;
}

function ending(state: Extract<TerminalState, { phase: "ended" }>, readOnly: boolean): string {
  if (state.why === "replaced") return "Another viewer started a new shell";
  if (state.why === "gone") {
    return readOnly
      ? "This terminal does not exist; only an owner can start it"
      : "This terminal does not exist";
  }
  return exitText(state.exit ?? {});
}

export function exitText(exit: Exit): string {
  if (exit.signal) return `killed by ${exit.signal}`;
  return `exited with code ${exit.code ?? "unknown"}`;
}

/** User-facing descriptions of failures, keyed by error code. */
const FAILURE_TEXTS: Record<string, string> = {
  forbidden: "You are signed in, but you have no access to this sandbox or terminal.",
  origin_denied: "The gateway does not allow pages from this origin.",
  not_found: "This sandbox or terminal does not exist.",
  stopped: "This sandbox is stopped. Its files are kept.",
  spawn_failed: "The shell failed to start.",
  limit_exceeded: "The sandbox has reached its limit of terminals.",
  unavailable: "The sandbox is unreachable at the moment.",
  internal: "The server failed. See its log for details.",
};

/** Returns the title for a failure. `sandbox` is the sandbox's id. */
export function failureTitle(error: HawseError | undefined, sandbox: string): string {
  const { reason } = error?.code === "stopped" ? error.details : {};
  return typeof reason === "string" ? `${sandbox} was ${reason}` : "Something went wrong";
}

function failure(error: HawseError): Status {
  return { kind: "failed", label: "Stopped", text: FAILURE_TEXTS[error.code] ?? errorText(error), error };
}
