// A notebook's code context. It's created with the first run, and followed as long as it exists.

import { batch, type Signal, signal } from "@preact/signals";
import type { Disposable } from "../../base/disposables";
import { errorText } from "../../client/error-text";
import type { Namespace } from "../../client/sandbox";
import { HawseError } from "../../wire/errors";
import type { CodeContextInfo, CodeRunInfo } from "../../wire/methods";
import { follow } from "../follow";

export interface NotebookBox {
  readonly code: Namespace<"code">;
}

export interface NotebookContextOptions {
  readonly box: NotebookBox;
  readonly id: string;
  /** The runs in the context; empty once the context has ended. */
  readonly runs: (runs: readonly CodeRunInfo[]) => void;
  /** Called when this page has created the context. */
  readonly created: () => void;
  /** Shows an error from a call. */
  readonly problem: (text: string) => void;
}

export class NotebookContext implements Disposable {
  /** Undefined if the context does not exist. */
  readonly info: Signal<CodeContextInfo | undefined> = signal(undefined);
  /** The context's language or, before the context exists, the language that it will have. */
  readonly language = signal("python");
  /** The current operation on the context, as shown to the user; empty if there is none. */
  readonly busy = signal("");
  readonly #options: NotebookContextOptions;
  #watch: Disposable | undefined;
  #creating: Promise<void> | undefined;

  constructor(options: NotebookContextOptions) {
    this.#options = options;
  }

  /** Shows the context if it exists. Throws HawseError. */
  async open(): Promise<void> {
    try {
      this.info.value = await this.#code.get({ context: this.#options.id });
    } catch (error) {
      if (error instanceof HawseError && error.code === "not_found") return;
      throw error;
    }
    this.language.value = this.info.value.language;
    this.#follow();
  }

  /** Creates the context if it does not exist. Returns whether it exists. */
  async create(): Promise<boolean> {
    const created = await this.#attempt("Starting…", () => {
      this.#creating ??= this.#create();
      return this.#creating;
    });
    if (!created) this.#creating = undefined; // so that a later call tries again
    return created;
  }

  interrupt(): Promise<boolean> {
    return this.#attempt("", () => this.#code.interrupt({ context: this.#options.id }));
  }

  restart(): Promise<boolean> {
    return this.#attempt("Restarting…", async () => {
      if (this.info.peek()) this.info.value = await this.#code.restart({ context: this.#options.id });
    });
  }

  end(): Promise<boolean> {
    return this.#attempt("", () => this.#code.delete({ context: this.#options.id }));
  }

  /** Answers a run's request for input. */
  answer(run: string, request: number, value: string): Promise<boolean> {
    return this.#attempt("", () => this.#code.answer({ run, request, value }));
  }

  /** Returns completions for a position in the code, in UTF-16 units; undefined if the context doesn't answer. */
  async complete(
    source: string,
    cursor: number,
  ): Promise<{ from: number; matches: readonly string[] } | undefined> {
    if (this.info.peek()?.state !== "running") return undefined;
    const position = [...source.slice(0, cursor)].length;
    try {
      const params = { context: this.#options.id, source, cursor: position };
      const { matches, start } = await this.#code.complete(params, { timeout: 3 });
      return { from: [...source].slice(0, start).join("").length, matches };
    } catch (error) {
      if (error instanceof HawseError) return undefined; // the call fails if, for example, the context is busy
      throw error;
    }
  }

  dispose(): void {
    this.#watch?.dispose();
  }

  get #code(): NotebookBox["code"] {
    return this.#options.box.code;
  }

  async #create(): Promise<void> {
    if (this.info.peek()) return;
    const { id, created } = this.#options;
    try {
      this.info.value = await this.#code.create({ id, language: this.language.peek() });
      created();
    } catch (error) {
      if (!(error instanceof HawseError) || error.code !== "conflict") throw error;
      this.info.value = await this.#code.get({ context: id });
    }
    this.#follow();
  }

  #follow(): void {
    this.#watch?.dispose();
    const gone = () => {
      this.info.value = undefined;
      this.#creating = undefined;
      this.#options.runs([]);
    };
    this.#watch = follow({
      open: () => this.#code.watch({ context: this.#options.id }),
      item: item => {
        if (item.event !== "changed") return;
        const { context, runs } = item.value;
        batch(() => {
          this.info.value = context;
          this.language.value = context.language;
          this.#options.runs(runs);
        });
      },
      ended: gone,
      failed: gone,
    });
  }

  async #attempt(busy: string, work: () => Promise<unknown>): Promise<boolean> {
    this.busy.value = busy;
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      if (error.code !== "cancelled" && error.code !== "conflict") this.#options.problem(errorText(error));
      return false;
    } finally {
      this.busy.value = "";
    }
  }
}
