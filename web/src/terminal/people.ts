// The viewers of a terminal and its writer lease, as reported by the server (docs/wire.md section 9, people at a
// terminal). This module is independent of channels and pages.

import { type Disposable, Emitter } from "../base/disposables";
import type { Participant, TerminalOpened, WriterLease } from "../wire/methods";

const FREE: WriterLease = { mode: "free", holder: null, epoch: 0 };

export class People {
  readonly #onChange = new Emitter<void>();
  #viewers = new Map<string, Participant>();
  #me: string | undefined;
  #lease: WriterLease = FREE;
  #readOnly = false;

  /** Fires when a viewer has joined, left or changed, or the lease has changed. */
  readonly onChange: (listener: () => void) => Disposable = this.#onChange.on;

  get me(): Participant | undefined {
    return this.#viewers.get(this.#me ?? "");
  }

  /** The other viewers, in joining order. */
  get others(): Participant[] {
    return [...this.#viewers.values()].filter(({ id }) => id !== this.#me);
  }

  get lease(): WriterLease {
    return this.#lease;
  }

  /** The viewer that holds the writer lease; undefined if all viewers can type. */
  get holder(): Participant | undefined {
    return this.#viewers.get(this.#lease.holder ?? "");
  }

  get readOnly(): boolean {
    return this.#readOnly;
  }

  get mayType(): boolean {
    return !this.#readOnly && (this.#lease.mode === "free" || this.#lease.holder === this.#me);
  }

  /** Older servers send no viewers and no lease. In that case, the list is empty and all viewers can type. */
  opened({ viewer, presence = [], lease, read_only = false }: TerminalOpened): void {
    this.#me = viewer ?? undefined;
    this.#viewers = new Map(presence.map(each => [each.id, each]));
    this.#lease = lease ?? FREE;
    this.#readOnly = read_only;
    this.#onChange.emit();
  }

  /** Applies a channel event; ignores events that aren't about viewers or the lease. */
  event(name: string, value: unknown): void {
    if (name === "joined" || name === "presence") {
      const { viewer } = value as { viewer: Participant };
      this.#viewers.set(viewer.id, viewer);
    } else if (name === "left") this.#viewers.delete((value as { id: string }).id);
    else if (name === "lease") this.#lease = value as WriterLease;
    else return;
    this.#onChange.emit();
  }
}
