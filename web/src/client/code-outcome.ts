// The outcome of a code run as one value: printed text, values and displays, as a notebook shows them after the run.

import type { CodeDisplay, CodeRun, CodeRunResult } from "../wire/methods";
import { type CodeCalls, RunFollower, type RunListener } from "./code-run";

export type CodeOptions = Omit<CodeRun, "source" | "since" | "stdin">;

/** An object in several representations: the value of the last expression, or something the code displayed. */
export interface RichResult {
  readonly kind: "value" | "display";
  /** Representations keyed by MIME type: text, base64 text for binary types, or JSON values. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** MIME types whose values were too large or are no longer available. */
  readonly omitted: readonly string[];
}

/** The outcome of a run, including its output. */
export interface CodeOutcome extends Omit<CodeRunResult, "end"> {
  readonly stdout: string;
  readonly stderr: string;
  /** Results in order, with updates applied and without results that the code cleared. */
  readonly results: readonly RichResult[];
  /** The last expression's value as plain text; undefined if the code has no value. */
  readonly text: string | undefined;
  /** Whether any output is missing, because it was too long or wasn't read in time. */
  readonly truncated: boolean;
}

/** Maximum number of stdout and stderr characters kept. For longer output, use `box.code.run`. */
const OUTPUT_MAX = 67_108_864;

/** Runs code and collects its output. Throws HawseError. */
export function runCode(box: CodeCalls, source: string, options: CodeOptions): Promise<CodeOutcome> {
  return new Promise((resolve, reject) => {
    const collector = new Collector(resolve, reject);
    new RunFollower(box, { ...options, source }, collector);
  });
}

class Collector implements RunListener {
  readonly ended: (result: CodeRunResult) => void;
  readonly failed: (error: Error) => void;
  readonly #text = { stdout: "", stderr: "" };
  #results: { readonly id: string | undefined; rich: RichResult }[] = [];
  #clearNext = false;
  #truncated = false;

  constructor(resolve: (outcome: CodeOutcome) => void, reject: (error: Error) => void) {
    this.ended = ({ end: _, ...result }) => resolve({ ...result, ...this.#output() });
    this.failed = reject;
  }

  requested(): void {}
  named(): void {}
  began(): void {}
  error(): void {} // ignored, because the run's result contains the error
  input(): void {} // never called, because the code runs without `stdin`

  text(stream: "stdout" | "stderr", text: string): void {
    this.#clearIfDue();
    const room = OUTPUT_MAX - this.#text[stream].length;
    this.#text[stream] += text.slice(0, room);
    if (text.length > room) this.#truncated = true;
  }

  display(display: CodeDisplay, data: Record<string, unknown>): void {
    this.#clearIfDue();
    const kind = display.execution_count == null ? "display" : "value";
    this.#results.push({ id: display.display_id ?? undefined, rich: rich(kind, display, data) });
  }

  update(display: CodeDisplay, data: Record<string, unknown>): void {
    this.#clearIfDue();
    for (const result of this.#results) {
      if (result.id !== undefined && result.id === display.display_id)
        result.rich = rich(result.rich.kind, display, data);
    }
  }

  clear(wait: boolean): void {
    this.#clearNext = wait;
    if (!wait) this.#results = [];
  }

  lost(): void {
    this.#truncated = true;
  }

  #clearIfDue(): void {
    if (this.#clearNext) this.#results = [];
    this.#clearNext = false;
  }

  #output(): Pick<CodeOutcome, "stdout" | "stderr" | "results" | "text" | "truncated"> {
    const results = this.#results.map(({ rich: each }) => each);
    const text = results.findLast(({ kind }) => kind === "value")?.data["text/plain"];
    return {
      ...this.#text,
      results,
      text: typeof text === "string" ? text : undefined,
      truncated: this.#truncated,
    };
  }
}

function rich(kind: RichResult["kind"], display: CodeDisplay, data: Record<string, unknown>): RichResult {
  const missing = (display.large ?? []).map(({ type }) => type).filter(type => !(type in data));
  return { kind, data, metadata: display.metadata ?? {}, omitted: [...(display.omitted ?? []), ...missing] };
}
