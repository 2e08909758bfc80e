// Who is at a terminal, and who of them may type: what the server tells, kept as it is now (docs/wire.md section 9, people
// at a terminal). It knows no channel and no page.

import { type Disposable, Emitter } from "../base/disposables";
import type { Lease, Opened, Viewer } from "../wire/methods";

const FREE: Lease = { mode: "free", holder: null, epoch: 0 };

export class People {
  readonly #onChange = new Emitter<void>();
  #viewers = new Map<string, Viewer>();
  #me: string | undefined;
  #lease: Lease = FREE;
  #readOnly = false;

  /** Somebody has come, gone or changed, or others may type. */
  readonly onChange: (listener: () => void) => Disposable = this.#onChange.on;

  get me(): Viewer | undefined {
    return this.#viewers.get(this.#me ?? "");
  }

  /** In the order in which they came. */
  get others(): Viewer[] {
    return [...this.#viewers.values()].filter(({ id }) => id !== this.#me);
  }

  get lease(): Lease {
    return this.#lease;
  }

  /** Who types alone, if somebody does. */
  get holder(): Viewer | undefined {
    return this.#viewers.get(this.#lease.holder ?? "");
  }

  get readOnly(): boolean {
    return this.#readOnly;
  }

  get mayType(): boolean {
    return !this.#readOnly && (this.#lease.mode === "free" || this.#lease.holder === this.#me);
  }

  /** An older server says nothing of people: then everybody may type, and nobody is seen. */
  opened({ viewer, presence = [], lease = FREE, read_only = false }: Opened): void {
    this.#me = viewer;
    this.#viewers = new Map(presence.map(each => [each.id, each]));
    this.#lease = lease;
    this.#readOnly = read_only;
    this.#onChange.emit();
  }

  /** An event of the channel; those that are not about people are ignored. */
  event(name: string, value: unknown): void {
    if (name === "joined" || name === "presence") {
      const { viewer } = value as { viewer: Viewer };
      this.#viewers.set(viewer.id, viewer);
    } else if (name === "left") this.#viewers.delete((value as { id: string }).id);
    else if (name === "lease") this.#lease = value as Lease;
    else return;
    this.#onChange.emit();
  }
}
