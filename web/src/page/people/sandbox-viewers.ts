// The viewers of all terminals in the sandbox, for a page that shows only a notebook, a file or a preview.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { type Disposable, DisposableList } from "../../base/disposables";
import type { SandboxHandle } from "../../client/sandbox";
import type { People } from "../../terminal/people";
import { PeopleList, type People as Terminals } from "../../views/people/people-list";
import type { Participant } from "../../wire/methods";

/** A viewer in the header. */
export type Faces = Pick<People, "me" | "others" | "lease" | "readOnly">;

/** Separates a terminal id from a viewer id, which is unique only within its terminal. */
const AT = "\n";

/** Returns each user once, on the first terminal the user is viewing; the returned id includes that terminal's id. */
export function facesOf(terminals: Terminals["terminals"]): Participant[] {
  const faces = new Map<string, Participant>();
  for (const { terminal, viewers } of terminals)
    for (const viewer of viewers) {
      const key = `${viewer.kind} ${viewer.name}`;
      if (!faces.has(key)) faces.set(key, { ...viewer, id: terminal + AT + viewer.id });
    }
  return [...faces.values()];
}

/** Returns the terminal of a viewer from `facesOf`; undefined for a viewer from a terminal's own list. */
export function placeOf(viewer: Participant): { terminal: string; viewer: Participant } | undefined {
  const [terminal = "", id] = viewer.id.split(AT);
  return id === undefined ? undefined : { terminal, viewer: { ...viewer, id } };
}

export class SandboxViewers implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #list = signal<PeopleList | undefined>(undefined);

  /** The viewers are requested only while `wanted` is true. */
  constructor(box: Pick<SandboxHandle, "terminal">, wanted: ReadonlySignal<boolean>) {
    this.#disposables.defer(
      effect(() => {
        if (!wanted.value) return undefined;
        const list = new PeopleList(box);
        this.#list.value = list;
        return () => {
          list.dispose();
          this.#list.value = undefined;
        };
      }),
    );
  }

  readonly people: ReadonlySignal<{ people: Faces } | undefined> = computed(() => {
    const found = this.#list.value?.people.value;
    const lease = { mode: "free", holder: null, epoch: 0 } as const;
    return found && { people: { me: undefined, others: facesOf(found.terminals), lease, readOnly: false } };
  });

  dispose(): void {
    this.#disposables.dispose();
  }
}
