// Makes users visible even if their page shows only a notebook, a file or a preview. The page attaches to one of the
// terminals as a viewer without an emulator, size or input, and discards the output.

import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals";
import { type Disposable, DisposableList } from "../../base/disposables";
import type { Channel } from "../../client/channels";
import type { GatewayClient } from "../../client/client";
import { People } from "../../terminal/people";
import { HawseError } from "../../wire/errors";
import type { Participant, TerminalAttach, TerminalOpened, TerminalPresence } from "../../wire/methods";
import type { Faces } from "./sandbox-viewers";

/** How long to wait before attaching again after an error, in milliseconds. */
const RETRY = 5_000;

export interface PresenceOptions {
  readonly client: Pick<GatewayClient, "open" | "call" | "onUp">;
  readonly sandbox: string;
  /** Key of the page's viewer. */
  readonly viewerKey: string;
  /** The name chosen by the user; if empty, the server assigns one. */
  readonly name: () => string;
  /** Id of the terminal to attach to; undefined if there is none. */
  readonly terminal: ReadonlySignal<string | undefined>;
  /** The user's view; see `view-text.ts`. */
  readonly view: ReadonlySignal<string>;
}

/** This page's viewer, and its terminal. */
export interface Standing {
  readonly terminal: string;
  readonly viewer: Participant;
}

export class PresenceWithoutTerminal implements Disposable {
  readonly #options: PresenceOptions;
  readonly #disposables = new DisposableList();
  readonly #me = signal<Standing | undefined>(undefined);
  #leave: () => void = () => {};

  constructor(options: PresenceOptions) {
    this.#options = options;
    const { client, terminal, view } = options;
    this.#disposables.add(client.onUp(() => this.#join(terminal.peek())));
    this.#disposables.defer(
      effect(() => {
        const id = terminal.value;
        untracked(() => this.#join(id));
      }),
    );
    // a separate signal, because the terminal changes less often than the viewer
    const at = computed(() => this.#me.value?.terminal);
    this.#disposables.defer(effect(() => this.#update({ view: view.value }, at.value)));
    this.#disposables.defer(() => this.#leave());
  }

  /** Undefined while the page is showing a terminal, and until this viewer is attached. */
  readonly me: ReadonlySignal<Standing | undefined> = this.#me;

  rename(name: string): void {
    this.#update({ name }, this.#me.peek()?.terminal);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #join(terminal: string | undefined): void {
    this.#leave();
    if (terminal === undefined) return;
    const { client, sandbox } = this.#options;
    const people = new People();
    let channel: Channel | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let left = false;
    this.#leave = () => {
      left = true;
      clearTimeout(timer);
      channel?.cancel();
      this.#me.value = undefined;
    };
    const ended = () => {
      if (left) return;
      this.#me.value = undefined;
      timer = setTimeout(() => this.#join(this.#options.terminal.peek()), RETRY);
    };
    people.onChange(() => {
      const viewer = people.me;
      if (!left) this.#me.value = viewer && { terminal, viewer };
    });
    channel = client.open(
      "terminal.attach",
      { sandbox, params: this.#attach(terminal) },
      {
        event: (name, value, cost) => {
          channel?.consume(cost);
          if (name === "opened") people.opened(value as TerminalOpened);
          else people.event(name, value);
        },
        data: (_, cost) => channel?.consume(cost),
        result: ended,
        error: ended,
      },
    );
  }

  #attach(id: string): TerminalAttach {
    const { viewerKey, name } = this.#options;
    const viewer = { key: viewerKey, kind: "person" as const, focus: false };
    return { id, viewer: name() ? { ...viewer, name: name() } : viewer };
  }

  #update(change: Pick<TerminalPresence, "name" | "view">, terminal: string | undefined): void {
    if (terminal === undefined) return;
    const { client, sandbox, viewerKey } = this.#options;
    void client
      .call("terminal.presence", { id: terminal, viewer: viewerKey, ...change }, { sandbox })
      .catch(problem => {
        if (!(problem instanceof HawseError)) throw problem; // the call fails if the terminal has just ended
      });
  }
}

/**
 * Returns `faces` with this page's viewer as `me` rather than among the others. Users are identified by kind and name.
 */
export function withMe(faces: { people: Faces } | undefined, me: Standing | undefined) {
  if (!faces || !me) return faces;
  const { kind, name } = me.viewer;
  const others = faces.people.others.filter(other => other.kind !== kind || other.name !== name);
  return { people: { ...faces.people, me: me.viewer, others } };
}
