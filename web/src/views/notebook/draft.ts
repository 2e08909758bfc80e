// Stores a notebook in the browser, so that a reload of the page or a crash loses nothing.

import { type CellDraft, isDraft } from "./cell";

export interface Draft {
  readonly language: string;
  /** The page has made the context. */
  readonly own: boolean;
  /** Runs that are not shown. */
  readonly removed: readonly string[];
  readonly cells: readonly CellDraft[];
  /** Whether something is not in the file, and whether this page has changed it. */
  readonly changed: boolean;
  readonly edited: boolean;
  /** Version of the file that the cells come from, and the ids of its cells in their order. */
  readonly version?: string | undefined;
  readonly order?: readonly string[] | undefined;
}

export interface DraftOptions {
  /** Any call may throw: the storage can be full or forbidden. */
  readonly storage: () => Storage;
  readonly key: string;
  /** Returns what is to be stored. */
  readonly draft: () => Draft;
}

/** Milliseconds within which changes are collected before they are stored. */
const SAVE = 400;

export class DraftStore {
  readonly #options: DraftOptions;
  #saving: ReturnType<typeof setTimeout> | undefined;

  constructor(options: DraftOptions) {
    this.#options = options;
  }

  /** Stores the draft soon. */
  save(): void {
    this.#saving ??= setTimeout(() => this.#saveNow(), SAVE);
  }

  /** Stores what `save` has announced now: the page may be about to close. */
  flush(): void {
    if (this.#saving !== undefined) this.#saveNow();
  }

  /** Removes what is stored. */
  forget(): void {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    attempted(() => this.#options.storage().removeItem(this.#options.key));
  }

  /** Returns what is stored; undefined if there is nothing that can be used. */
  read(): Draft | undefined {
    const text = attempted(() => this.#options.storage().getItem(this.#options.key));
    const stored = attempted(() => JSON.parse(text ?? "")) as
      | Partial<Record<keyof Draft, unknown>>
      | undefined;
    if (typeof stored !== "object" || stored === null) return undefined;
    const { language, own, removed, cells, changed, edited, version, order } = stored;
    return {
      language: typeof language === "string" ? language : "",
      own: own === true,
      removed: Array.isArray(removed) ? removed.map(String) : [],
      cells: Array.isArray(cells) ? cells.filter(isDraft) : [],
      changed: changed !== false,
      edited: edited !== false,
      version: typeof version === "string" ? version : undefined,
      order: Array.isArray(order) ? order.map(String) : undefined,
    };
  }

  #saveNow(): void {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    const text = JSON.stringify(this.#options.draft());
    attempted(() => this.#options.storage().setItem(this.#options.key, text));
  }
}

function attempted<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined; // the storage is full or forbidden
  }
}
