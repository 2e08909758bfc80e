// A cell's outputs, in the order of the run, within limits.

import type { CodeDisplay, CodeError } from "../../wire/methods";
import { appended } from "./ansi";

export interface TextOutput {
  readonly kind: "text";
  readonly stream: "stdout" | "stderr";
  readonly text: string;
  /** Whether the start of the text was dropped. */
  readonly cut: boolean;
}

export interface BundleOutput {
  readonly kind: "bundle";
  /** Values, keyed by MIME type. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** MIME types whose values were too large. */
  readonly omitted: readonly string[];
  readonly displayId: string | undefined;
  /** The run's number, if the output is the value of its last expression. */
  readonly count: number | undefined;
}

export interface ErrorOutput {
  readonly kind: "error";
  readonly name: string;
  readonly value: string;
  readonly traceback: readonly string[];
}

export type Output = TextOutput | BundleOutput | ErrorOutput;

/** Maximum number of characters per output; more would be unreadable and slow to draw. */
export const TEXT_MAX = 400_000;
/** Maximum number of outputs per cell. */
export const OUTPUTS_MAX = 500;

export class Outputs {
  #list: readonly Output[] = [];
  /** Set by `clear(wait=True)`: the next output replaces the previous ones. */
  #clearNext = false;
  /** Whether outputs were dropped because there were too many. */
  dropped = false;

  get list(): readonly Output[] {
    return this.#list;
  }

  text(stream: "stdout" | "stderr", text: string): void {
    if (!text) return;
    this.#clearIfDue();
    const last = this.#list.at(-1);
    if (last?.kind !== "text" || last.stream !== stream) {
      const shown = appended("", text);
      this.#add({ kind: "text", stream, ...cutTo(shown, false) });
      return;
    }
    const joined = { kind: "text", stream, ...cutTo(appended(last.text, text), last.cut) } as const;
    this.#list = [...this.#list.slice(0, -1), joined];
  }

  /** `data` contains the bundle's values, including those that arrived as bytes. */
  display(display: CodeDisplay, data: Readonly<Record<string, unknown>>): void {
    this.#clearIfDue();
    this.#add(bundle(display, data));
  }

  /** Replaces the display with the same id. Returns whether there was one. */
  update(display: CodeDisplay, data: Readonly<Record<string, unknown>>): boolean {
    const { display_id: id } = display;
    if (id == null || !this.#list.some(each => each.kind === "bundle" && each.displayId === id)) return false;
    const replaced = bundle(display, data);
    this.#list = this.#list.map(each =>
      each.kind === "bundle" && each.displayId === id ? { ...replaced, count: each.count } : each,
    );
    return true;
  }

  clear(wait: boolean): void {
    if (wait) this.#clearNext = true;
    else this.reset();
  }

  error({ name, value, traceback = [] }: CodeError): void {
    this.#clearIfDue();
    this.#add({ kind: "error", name, value, traceback });
  }

  reset(): void {
    this.#list = [];
    this.#clearNext = false;
    this.dropped = false;
  }

  #clearIfDue(): void {
    if (this.#clearNext) this.reset();
  }

  #add(output: Output): void {
    if (this.#list.length >= OUTPUTS_MAX) {
      this.dropped = true;
      return;
    }
    this.#list = [...this.#list, output];
  }
}

function bundle(display: CodeDisplay, data: Readonly<Record<string, unknown>>): BundleOutput {
  return {
    kind: "bundle",
    data,
    metadata: display.metadata ?? {},
    omitted: display.omitted ?? [],
    displayId: display.display_id ?? undefined,
    count: display.execution_count ?? undefined,
  };
}

function cutTo(text: string, cut: boolean): { text: string; cut: boolean } {
  if (text.length <= TEXT_MAX) return { text, cut };
  const from = text.indexOf("\n", text.length - TEXT_MAX);
  return { text: text.slice(from < 0 ? text.length - TEXT_MAX : from + 1), cut: true };
}
