// Makes a user visible to the others whose page shows no terminal, only a notebook, a file or a preview: the page attaches to
// one of the terminals as a viewer, without an emulator, a size and input, and discards the output.

import { computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals";
import { type Disposable, DisposableList } from "../../base/disposables";
import type { Channel } from "../../client/channels";
import type { GatewayClient } from "../../client/client";
import { People } from "../../terminal/people";
import { HawseError } from "../../wire/errors";
import type { Participant, TerminalAttach, TerminalOpened, TerminalPresence } from "../../wire/methods";
import type { Faces } from "./sandbox-viewers";

/** Milliseconds until it attaches again after an error. */
const RETRY = 5_000;

export interface StandInOptions {
  readonly client: Pick<GatewayClient, "open" | "call" | "onUp">;
  readonly sandbox: string;
  /** Key of the page's viewer. */
  readonly viewerKey: string;
  /** The name that the user has chosen; empty: the server assigns one. */
  readonly name: () => string;
  /** Id of the terminal to attach to; undefined: none. */
  readonly terminal: ReadonlySignal<string | undefined>;
  /** The view of the user: see `view-text.ts`. */
  readonly view: ReadonlySignal<string>;
}

/** This page's viewer, and the terminal that it is at. */
export interface Standing {
  readonly terminal: string;
  readonly viewer: Participant;
}

export class StandIn implements Disposable {
  readonly #options: StandInOptions;
  readonly #disposables = new DisposableList();
  readonly #me = signal<Standing | undefined>(undefined);
  #leave: () => void = () => {};

  constructor(options: StandInOptions) {
    this.#options = options;
    const { client, terminal, view } = options;
    this.#disposables.add(client.onUp(() => this.#join(terminal.peek())));
    this.#disposables.defer(
      effect(() => {
        const id = terminal.value;
        untracked(() => this.#join(id));
      }),
    );
    const at = computed(() => this.#me.value?.terminal); // not with each change of the viewer
    this.#disposables.defer(effect(() => this.#update({ view: view.value }, at.value)));
    this.#disposables.defer(() => this.#leave());
  }

  /** Undefined while the page shows a terminal, and until it is attached. */
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
        if (!(problem instanceof HawseError)) throw problem; // else the terminal has just ended
      });
  }
}

/** Returns `faces` with this page's viewer as `me`, and not among the others: a user is known by kind and name. */
export function withMe(faces: { people: Faces } | undefined, me: Standing | undefined) {
  if (!faces || !me) return faces;
  const { kind, name } = me.viewer;
  const others = faces.people.others.filter(other => other.kind !== kind || other.name !== name);
  return { people: { ...faces.people, me: me.viewer, others } };
}
