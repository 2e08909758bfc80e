// One cell of a notebook, and its draft, which survives a reload of the page.

import { type Signal, signal } from "@preact/signals";
import type { CodeInputRequest, CodeRunResult } from "../../wire/methods";
import type { Output } from "./outputs";

export type CellKind = "code" | "text";

export interface CellState {
  readonly phase: "idle" | "queued" | "running" | "ended";
  readonly status?: CodeRunResult["status"] | undefined;
  readonly count?: number | undefined;
  /** Seconds from its start to its end. */
  readonly duration?: number | undefined;
  /** The reason why it did not run, or how its executor ended. */
  readonly problem?: string | undefined;
  /** The program waits for a line. */
  readonly input?: CodeInputRequest | undefined;
}

export interface Cell {
  readonly id: string;
  readonly kind: Signal<CellKind>;
  readonly source: Signal<string>;
  readonly state: Signal<CellState>;
  readonly outputs: Signal<readonly Output[]>;
  /** Id of its last run. */
  run: string | undefined;
  /** Who started the run; undefined for this page. */
  readonly by: Signal<string | undefined>;
  /** Its outputs were removed and it has not run since: the file's outputs are not shown again. */
  cleared: boolean;
  /** The request of a run that has not started. After a reload of the page, it is sent again. */
  request: CellRequest | undefined;
}

/** The request of a run, which can be repeated: the server starts the run once. */
export interface CellRequest {
  readonly key: string;
  readonly source: string;
  /** When it was first sent, in milliseconds since 1970. */
  readonly time: number;
}

/** The draft of a cell. */
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
