// The facts shown in the status line: the active terminal's directory, branch, recording and size, and how the
// sandbox is isolated.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { type Disposable, DisposableList } from "../base/disposables";
import type { GatewayClient } from "../client/client";
import { HawseError } from "../wire/errors";
import type { GitStatusResult, TerminalInfo } from "../wire/methods";
import type { ForeignSize } from "./terminal/terminal-options";
import type { TerminalPane } from "./terminal/terminal-pane";

/** Maximum age of the branch before it is requested again, in milliseconds. */
const GIT_AGE = 4_000;

export interface FactsSource {
  terminals: ReadonlySignal<readonly TerminalInfo[]>;
  active: ReadonlySignal<TerminalPane | undefined>;
}

export class PageFacts implements Disposable {
  readonly #client: GatewayClient;
  readonly #sandbox: string;
  readonly #source: FactsSource;
  readonly #disposables = new DisposableList();
  readonly #git = signal<GitStatusResult | undefined>(undefined);
  readonly #isolation = signal("");
  /** The directory whose branch was last requested, and when. */
  #asked = { directory: "", at: Number.NEGATIVE_INFINITY };

  constructor(client: GatewayClient, sandbox: string, source: FactsSource) {
    this.#client = client;
    this.#sandbox = sandbox;
    this.#source = source;
    this.#disposables.add(client.onUp(() => void this.#askIsolation()));
    this.#disposables.defer(
      effect(() => {
        // This read makes the effect run again, and request the branch, after each change to the terminals.
        source.terminals.value;
        void this.#askGit(this.directory.value);
      }),
    );
  }

  readonly git: ReadonlySignal<GitStatusResult | undefined> = this.#git;
  /** Empty if unknown. */
  readonly isolation: ReadonlySignal<string> = this.#isolation;

  readonly directory: ReadonlySignal<string> = computed(() => {
    const pane = this.#source.active.value;
    const info = this.#source.terminals.value.find(({ id }) => id === pane?.id);
    return info?.cwd ?? pane?.opened.value?.channel.info?.cwd ?? "";
  });

  readonly recording = computed<{ input: boolean } | undefined>(() => {
    const active = this.#source.active.value?.opened.value?.recording.active.value ?? [];
    return active.length ? { input: active.some(({ input }) => input) } : undefined;
  });

  /** The terminal's size, if it differs from the size that would fit here. */
  readonly size = computed<ForeignSize | undefined>(() => this.#source.active.value?.foreignSize.value);

  dispose(): void {
    this.#disposables.dispose();
  }

  async #askIsolation(): Promise<void> {
    const { isolation } = await this.#client
      .call("sandbox.get", { id: this.#sandbox })
      .catch(problem => ignored(problem, { isolation: null }));
    this.#isolation.value = isolation ?? "";
  }

  async #askGit(directory: string): Promise<void> {
    const now = performance.now();
    if (!directory || this.#client.state.phase !== "live") return;
    if (this.#asked.directory === directory && now - this.#asked.at < GIT_AGE) return;
    if (this.#asked.directory !== directory) this.#git.value = undefined;
    this.#asked = { directory, at: now };
    const found = await this.#client
      .call("git.status", { path: directory }, { sandbox: this.#sandbox })
      .catch(problem => ignored(problem, undefined));
    if (this.#asked.directory === directory) this.#git.value = found;
  }
}

/** Facts that aren't available are not shown, for example the branch if the directory isn't in a repository. */
function ignored<T>(problem: unknown, value: T): T {
  if (!(problem instanceof HawseError)) throw problem;
  return value;
}
