// The error types:
//
//   Error
//   ├── HawseError            a typed error of docs/wire.md section 8: a call failed; `retryable`: a retry is safe
//   │   └── ProtocolViolation the server broke the protocol: the connection is unusable
//   └── MisuseError           the caller asked for what the protocol forbids: a bug on this side

import type { Admitted, ErrorMessage } from "./protocol";

/** code: [HTTP status, retryable]. Equal to the table of docs/wire.md section 8; a test compares them. */
export const ERRORS = {
  invalid_message: [400, false],
  protocol_error: [400, false],
  credit_exceeded: [400, false],
  hello_timeout: [408, true],
  backlog: [429, true],
  unauthenticated: [401, false],
  forbidden: [403, false],
  origin_denied: [403, false],
  unknown_method: [404, false],
  invalid_params: [400, false],
  not_found: [404, false],
  conflict: [409, false],
  stale_handle: [410, false],
  exited: [409, false],
  lease_held: [409, false],
  key_conflict: [409, false],
  outcome_unknown: [409, false],
  capacity_exceeded: [503, true],
  cleanup_pending: [409, true],
  stopped: [409, false],
  input_gap: [409, false],
  input_overflow: [429, true],
  limit_exceeded: [429, true],
  too_large: [413, false],
  deadline_exceeded: [408, false],
  cancelled: [499, false],
  spawn_failed: [422, false],
  permission_denied: [403, false],
  is_directory: [409, false],
  not_directory: [409, false],
  no_space: [507, true],
  io_error: [500, false],
  language_unavailable: [501, false],
  unavailable: [503, true],
  interrupted: [502, true],
  internal: [500, false],
} as const satisfies Record<string, readonly [number, boolean]>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorOptions {
  admitted?: Admitted;
  retryable?: boolean;
  details?: Record<string, unknown>;
}

export class HawseError extends Error {
  /** A key of `ERRORS`, or a code that a newer server has added. */
  readonly code: string;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  /** Whether the server started the work. */
  readonly admitted: Admitted;
  readonly details: Record<string, unknown>;

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(message);
    this.name = "HawseError";
    this.code = code;
    this.retryable = options.retryable ?? (code in ERRORS && ERRORS[code as ErrorCode][1]);
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

/** The error of a call whose connection was lost before its result: whether it ran is unknown. */
export function interrupted(what: string): HawseError {
  return new HawseError("interrupted", `the connection was lost during ${what}`, {
    admitted: "unknown",
  });
}
