// One word for the state of things, from the line's and the terminal's. Pure: the page only shows what is said here.

import type { LineState } from "../connection/reconnecting";
import type { TerminalState } from "../terminal/terminal-channel";
import type { HawseError } from "../wire/errors";
import type { Exit } from "../wire/methods";

export type Mood = "connecting" | "live" | "reconnecting" | "offline" | "ended" | "signed-out" | "failed";

export interface Status {
  mood: Mood;
  /** For the pill: two or three words. */
  label: string;
  /** For the notice or the card that goes with it. */
  text: string;
  error?: HawseError;
}

export interface Circumstances {
  line: LineState;
  terminal: TerminalState;
  /** navigator.onLine: false is certain, true is not. */
  online: boolean;
  now: number;
  /** Has this page ever been connected? */
  connectedBefore: boolean;
}

export function statusOf({ line, terminal, online, now, connectedBefore }: Circumstances): Status {
  if (line.phase === "failed") return failure(line.reason);
  if (line.phase === "signed-out") return signedOut(line.reason);
  if (terminal.phase === "failed") return failure(terminal.reason);
  if (terminal.phase === "ended") return { mood: "ended", label: "Ended", text: ending(terminal) };
  if (line.phase === "live" && terminal.phase !== "attaching" && terminal.phase !== "detached") {
    return { mood: "live", label: "Live", text: "Connected" };
  }
  if (!online) return { mood: "offline", label: "Offline", text: "No network. What you type is kept." };
  if (line.phase === "waiting") return waiting(Math.max(0, line.retryAt - now), connectedBefore);
  if (connectedBefore)
    return { mood: "reconnecting", label: "Reconnecting", text: "Reconnecting. What you type is kept." };
  return { mood: "connecting", label: "Connecting", text: "Connecting" };
}

function waiting(milliseconds: number, connectedBefore: boolean): Status {
  const seconds = Math.ceil(milliseconds / 1000);
  const when = seconds > 1 ? ` in ${seconds} s` : "";
  const verb = connectedBefore ? "Reconnecting" : "Retrying";
  const kept = connectedBefore ? " What you type is kept." : "";
  return { mood: "reconnecting", label: `${verb}${when}`, text: `${verb}${when}.${kept}` };
}

function signedOut(reason: HawseError | undefined): Status {
  const text = reason
    ? "This token was not accepted. It may be mistyped, or from an earlier start of the gateway."
    : "";
  return { mood: "signed-out", label: "Signed out", text };
}

export function ending(state: Extract<TerminalState, { phase: "ended" }>): string {
  if (state.why === "replaced") return "A new shell was started elsewhere";
  if (state.why === "gone") return "This terminal is gone";
  return exitText(state.exit ?? {});
}

export function exitText(exit: Exit): string {
  if (exit.signal) return `killed by ${exit.signal}`;
  return `exited with code ${exit.code ?? "unknown"}`;
}

/** What went wrong, for people who do not know the protocol. */
const WORDS: Record<string, string> = {
  protocol_error: "The gateway and this page do not understand each other. Reloading may bring a newer page.",
  invalid_message:
    "The gateway and this page do not understand each other. Reloading may bring a newer page.",
  credit_exceeded: "The gateway sent more than it was allowed to. This is a bug.",
  forbidden: "You are signed in, but this sandbox or terminal is not open to you.",
  origin_denied: "The gateway does not accept pages from this address.",
  not_found: "There is no such sandbox or terminal.",
  spawn_failed: "The shell could not be started.",
  limit_exceeded: "The sandbox has no room for another terminal.",
  unavailable: "The sandbox cannot be reached right now.",
  internal: "The server failed. Its log says more.",
};

function failure(error: HawseError): Status {
  return { mood: "failed", label: "Stopped", text: WORDS[error.code] ?? error.message, error };
}
