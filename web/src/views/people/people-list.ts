// The viewers of all terminals in a sandbox. It polls, because the gateway sends no events about terminals that the
// page isn't attached to.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { Disposable } from "../../base/disposables";
import { errorText } from "../../client/error-text";
import type { SandboxHandle } from "../../client/sandbox";
import { HawseError } from "../../wire/errors";
import type { Participant, TerminalViewer } from "../../wire/methods";

/** Milliseconds between polls. */
const INTERVAL = 2000;
/** Timeout for each poll, in milliseconds. */
const TIMEOUT = 10_000;

export interface People {
  /** Viewers, keyed by terminal id; only terminals that have viewers are included. */
  readonly terminals: readonly { readonly terminal: string; readonly viewers: readonly Participant[] }[];
  /** Number of viewers not in the list. */
  readonly more: number;
}

type PeopleSource = { readonly terminal: Pick<SandboxHandle["terminal"], "viewers"> };

export function groupPeople(found: readonly TerminalViewer[], total: number): People {
  const ids = [...new Set(found.map(({ terminal }) => terminal))].sort((a, b) => a.localeCompare(b));
  const terminals = ids.map(terminal => ({
    terminal,
    viewers: found.filter(each => each.terminal === terminal).map(({ viewer }) => viewer),
  }));
  return { terminals, more: Math.max(0, total - found.length) };
}

export class PeopleList implements Disposable {
  readonly #source: PeopleSource;
  readonly #people = signal<People | undefined>(undefined);
  readonly #error = signal("");
  #timer: ReturnType<typeof setTimeout> | undefined;
  #disposed = false;

  constructor(source: PeopleSource) {
    this.#source = source;
    void this.#refresh();
  }

  /** Undefined until the first list has arrived. */
  readonly people: ReadonlySignal<People | undefined> = this.#people;
  /** Why the list isn't available; empty if it is. */
  readonly error: ReadonlySignal<string> = this.#error;

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
  }

  async #refresh(): Promise<void> {
    try {
      if (!document.hidden) {
        const { viewers, total } = await this.#source.terminal.viewers({}, { timeout: TIMEOUT });
        this.#people.value = groupPeople(viewers, total);
      }
      this.#error.value = "";
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      this.#error.value =
        problem.code === "forbidden"
          ? "You are not allowed to see the people in this sandbox."
          : errorText(problem);
    } finally {
      if (!this.#disposed) this.#timer = setTimeout(() => void this.#refresh(), INTERVAL);
    }
  }
}
