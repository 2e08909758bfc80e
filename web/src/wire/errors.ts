// The error types:
//
//   Error
//   ├── HawseError            a failed call, with a code from docs/wire.md section 8; `retryable`: a retry is safe
//   │   └── ProtocolViolation the server broke the protocol: the connection is unusable
//   └── MisuseError           the caller requested something that the protocol forbids: a bug on this side

import type { Admitted, ErrorMessage } from "./protocol";

/**
 * Codes of errors that a retry of the same call can resolve (docs/wire.md section 8). A test compares this list with
 * that section.
 */
export const RETRYABLE: ReadonlySet<string> = new Set([
  "hello_timeout",
  "backlog",
  "capacity_exceeded",
  "cleanup_pending",
  "input_overflow",
  "limit_exceeded",
  "no_space",
  "unavailable",
  "interrupted",
]);

export interface ErrorOptions {
  admitted?: Admitted;
  retryable?: boolean;
  details?: Record<string, unknown>;
}

export class HawseError extends Error {
  /** An error code from docs/wire.md section 8 or from a newer server. */
  readonly code: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** Whether the server has started the call. */
  readonly admitted: Admitted;
  readonly details: Record<string, unknown>;

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(message);
    this.name = "HawseError";
    this.code = code;
    this.retryable = options.retryable ?? RETRYABLE.has(code);
    this.admitted = options.admitted ?? "no";
    this.details = options.details ?? {};
  }

  static from(message: ErrorMessage): HawseError {
    const { retryable, admitted, details } = message;
    return new HawseError(message.code, message.message, { retryable, admitted, details: details ?? {} });
  }
}

export class ProtocolViolation extends HawseError {
  constructor(code: "invalid_message" | "protocol_error" | "credit_exceeded", message: string) {
    super(code, message, { admitted: "unknown" });
    this.name = "ProtocolViolation";
  }
}

export class MisuseError extends Error {
  override readonly name = "MisuseError";
}

/** Returns `error` as it applies to a call, depending on whether the call was sent. */
export function forCall(error: HawseError, sent: boolean): HawseError {
  const { code, message, retryable, details } = error;
  return new HawseError(code, message, { retryable, details, admitted: sent ? "unknown" : "no" });
}

/**
 * Returns the error for a call whose connection was lost before its result arrived, so that it's unknown whether the
 * call ran.
 */
export function interrupted(what: string): HawseError {
  return new HawseError("interrupted", `the connection was lost during ${what}`, {
    admitted: "unknown",
  });
}

/**
 * Returns the error for a call whose sandbox was restarted before the result arrived. The sandbox has lost its keys, so
 * it may have run the call again.
 */
export function restarted(what: string): HawseError {
  return new HawseError("outcome_unknown", `the sandbox was restarted during ${what}`, {
    admitted: "yes",
  });
}
