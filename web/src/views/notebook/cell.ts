// A cell in a notebook, and its draft, which survives a page reload.

import { type Signal, signal } from "@preact/signals";
import type { CodeInputRequest, CodeRunResult } from "../../wire/methods";
import type { Output } from "./outputs";

export type CellKind = "code" | "text";

export interface CellState {
  readonly phase: "idle" | "queued" | "running" | "ended";
  readonly status?: CodeRunResult["status"] | undefined;
  readonly count?: number | undefined;
  /** How long the run took, in seconds. */
  readonly duration?: number | undefined;
  /** Why the code didn't run, or why its executor ended. */
  readonly problem?: string | undefined;
  /** Set while the program is waiting for a line of input. */
  readonly input?: CodeInputRequest | undefined;
}

export interface Cell {
  readonly id: string;
  readonly kind: Signal<CellKind>;
  readonly source: Signal<string>;
  readonly state: Signal<CellState>;
  readonly outputs: Signal<readonly Output[]>;
  /** Id of the last run. */
  run: string | undefined;
  /** The caller that started the run; undefined if it was this page. */
  readonly by: Signal<string | undefined>;
  /**
   * Whether the outputs were removed and the cell hasn't run since. If so, the outputs in the file aren't shown again.
   */
  cleared: boolean;
  /** The request for a run that hasn't started. It is resent after a page reload. */
  request: CellRequest | undefined;
}

/** The request for a run. It can be repeated, because the server starts the run only once. */
export interface CellRequest {
  readonly key: string;
  readonly source: string;
  /** Time when the request was first sent, in milliseconds since 1970. */
  readonly time: number;
}

/** A cell's draft. */
export interface CellDraft {
  readonly id: string;
  readonly kind: CellKind;
  readonly source: string;
  readonly run?: string | undefined;
  readonly by?: string | undefined;
  readonly cleared?: boolean | undefined;
  readonly request?: CellRequest | undefined;
}

export const IDLE: CellState = { phase: "idle" };

export function newCell({ id, kind, source, run, by, cleared, request }: CellDraft): Cell {
  return {
    id,
    kind: signal(kind),
    source: signal(source),
    state: signal<CellState>(IDLE),
    outputs: signal<readonly Output[]>([]),
    run,
    by: signal(by),
    cleared: cleared === true,
    request,
  };
}

export function draftOf({ id, kind, source, run, by, cleared, request }: Cell): CellDraft {
  return {
    ...{ id, kind: kind.peek(), source: source.peek(), run, by: by.peek() },
    cleared: cleared || undefined,
    request,
  };
}

export function isDraft(value: unknown): value is CellDraft {
  if (typeof value !== "object" || value === null) return false;
  const { id, kind, source, run, by, request } = value as Record<string, unknown>;
  const text = (each: unknown) => each === undefined || typeof each === "string";
  return (
    typeof id === "string" &&
    typeof source === "string" &&
    (kind === "code" || kind === "text") &&
    text(run) &&
    text(by) &&
    (request === undefined || isRequest(request))
  );
}

function isRequest(value: unknown): value is CellRequest {
  if (typeof value !== "object" || value === null) return false;
  const { key, source, time } = value as Record<string, unknown>;
  return typeof key === "string" && typeof source === "string" && typeof time === "number";
}
