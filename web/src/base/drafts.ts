// Unsaved texts, stored in the browser until they are saved or discarded, so a reload, a closed tab or a crash loses
// nothing. Each draft belongs to a user and is not shown to other users of the browser. Each tab has its own drafts, so
// two tabs that edit the same file do not overwrite each other's drafts. After a tab has been closed, the next tab that
// opens the file takes over its draft.

import { type Disposable, DisposableList } from "./disposables";
import type { DraftDatabase, DraftInfo } from "./draft-database";

/** How long to collect changes before storing them, in milliseconds. */
const DELAY = 250;
/** Limits for all pages of a gateway. When a limit is exceeded, the oldest drafts are removed. */
const DRAFTS_MAX = 64;
/** Limits in UTF-16 code units: for one text (the largest file that the editor opens), and for all texts together. */
const TEXT_MAX = 8_388_608;
const TOTAL_MAX = 33_554_432;
/** 30 days, in milliseconds. */
const AGE_MAX = 30 * 86_400_000;

export type DraftPlace = Pick<DraftInfo, "sandbox" | "kind" | "name">;

export interface DraftsOptions {
  readonly database: DraftDatabase;
  readonly identity: string;
  /** Id of this browser tab; it's kept across reloads. */
  readonly tab: string;
  /** Reserves a tab's id for this page; returns false if another page has reserved it. */
  readonly claim: (tab: string) => Promise<boolean>;
  /** Returns the ids of the tabs that are open. */
  readonly live: () => Promise<ReadonlySet<string>>;
  readonly now?: () => number;
}

export interface KeptDraft {
  readonly text: string;
  readonly version: string | undefined;
  readonly time: number;
}

export class Drafts implements Disposable {
  readonly identity: string;
  readonly #options: DraftsOptions;
  readonly #now: () => number;
  readonly #slots = new Set<DraftSlot>();
  readonly #disposables = new DisposableList();
  #tab: Promise<string> | undefined;
  #known: string | undefined;

  constructor(options: DraftsOptions) {
    this.identity = options.identity;
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Stores pending texts when the page is closed or hidden. If a text couldn't be stored, the browser asks the user
   * before closing the page.
   */
  guard(page: Pick<Window, "addEventListener" | "removeEventListener">): void {
    const flush = () => {
      for (const slot of this.#slots) slot.flush();
    };
    for (const event of ["pagehide", "visibilitychange", "beforeunload"])
      this.#disposables.listen(page as EventTarget, event, flush, { capture: true });
    this.#disposables.listen(page as EventTarget, "beforeunload", event => {
      if (this.unkept) event.preventDefault();
    });
  }

  /** Whether there is a text on this page that could not be stored. */
  get unkept(): boolean {
    return [...this.#slots].some(({ unkept }) => unkept);
  }

  slot(place: DraftPlace): DraftSlot {
    const slot: DraftSlot = new DraftSlot(
      {
        read: () => this.#read(place),
        write: (text, version) => this.#write(place, text, version),
        remove: () => this.#remove(place),
      },
      () => this.#slots.delete(slot),
    );
    this.#slots.add(slot);
    return slot;
  }

  /** Returns the files in a sandbox that have drafts not shown on any other page, latest first. */
  async files(sandbox: string): Promise<readonly string[]> {
    const [own, live] = [await this.#own(), await this.#options.live()];
    const found = (await this.#mine()).filter(
      info => info.sandbox === sandbox && info.kind === "file" && (info.tab === own || !live.has(info.tab)),
    );
    return [...new Set(found.sort((a, b) => b.time - a.time).map(({ name }) => name))];
  }

  /** Returns the number of the user's drafts. */
  async count(): Promise<number> {
    for (const slot of this.#slots) slot.flush();
    return (await this.#mine()).length;
  }

  /** Removes all of the user's drafts when the user signs out. */
  async clear(): Promise<void> {
    for (const slot of this.#slots) slot.dispose();
    await this.#options.database.delete((await this.#mine()).map(({ key }) => key));
  }

  dispose(): void {
    for (const slot of [...this.#slots]) slot.dispose();
    this.#disposables.dispose();
  }

  async #mine(): Promise<DraftInfo[]> {
    const all = await this.#options.database.list();
    return all.filter(({ identity }) => identity === this.identity);
  }

  /** Returns this tab's id, or a new id if the tab is a duplicate of one that already uses it. */
  #own(): Promise<string> {
    const { claim, tab } = this.#options;
    this.#tab ??= claim(tab).then(free => {
      this.#known = free ? tab : `${tab}.${this.#now()}`;
      return this.#known;
    });
    return this.#tab;
  }

  async #read(place: DraftPlace): Promise<KeptDraft | undefined> {
    const { database, claim } = this.#options;
    await this.#prune();
    const own = await this.#own();
    const found = (await this.#mine()).filter(info => isAt(info, place));
    found.sort((a, b) => Number(b.tab === own) - Number(a.tab === own) || b.time - a.time);
    for (const info of found) {
      if (info.tab !== own && !(await claim(info.tab))) continue;
      const text = await database.text(info.key);
      if (text === undefined) continue;
      if (info.tab !== own) {
        await this.#write(place, text, info.version, info.time);
        await database.delete([info.key]);
      }
      return { text, version: info.version, time: info.time };
    }
    return undefined;
  }

  async #write(
    place: DraftPlace,
    text: string,
    version: string | undefined,
    time = this.#now(),
  ): Promise<void> {
    if (text.length > TEXT_MAX) throw new Error("the text is too large to store");
    // While a page is closing, only writes that start immediately are stored, so this doesn't wait if the tab's id is
    // known.
    const tab = this.#known ?? (await this.#own());
    const { identity } = this;
    const key = JSON.stringify([identity, place.sandbox, place.kind, place.name, tab]);
    await this.#options.database.put(
      { ...place, key, identity, tab, version, time, size: text.length },
      text,
    );
  }

  async #remove(place: DraftPlace): Promise<void> {
    const own = await this.#own();
    const found = (await this.#mine()).filter(info => isAt(info, place) && info.tab === own);
    await this.#options.database.delete(found.map(({ key }) => key));
  }

  async #prune(): Promise<void> {
    const { database } = this.#options;
    const all = [...(await database.list())].sort((a, b) => b.time - a.time);
    let total = 0;
    const old = all.filter(({ time, size }, index) => {
      total += size;
      return index >= DRAFTS_MAX || total > TOTAL_MAX || this.#now() - time > AGE_MAX;
    });
    if (old.length) await database.delete(old.map(({ key }) => key));
  }
}

interface SlotStore {
  read(): Promise<KeptDraft | undefined>;
  write(text: string, version: string | undefined): Promise<void>;
  remove(): Promise<void>;
}

/** This page's draft of one text. */
export class DraftSlot implements Disposable {
  readonly #store: SlotStore;
  readonly #gone: () => void;
  #text: (() => string) | undefined;
  #version: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unkept = false;
  /** Whether reading has failed. If so, the browser stores no drafts. */
  #broken = false;
  /** The latest write or removal; the next removal waits until it has finished. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: SlotStore, gone: () => void) {
    this.#store = store;
    this.#gone = gone;
  }

  /** Whether storing the latest text has failed. */
  get unkept(): boolean {
    return this.#unkept;
  }

  /** Returns the stored draft, or undefined if there is none or the browser stores no drafts. */
  read(): Promise<KeptDraft | undefined> {
    return this.#store.read().catch(() => {
      this.#broken = true;
      return undefined;
    });
  }

  /** Stores a text after a short delay; `text` is called at the end of the delay. */
  keep(text: () => string, version: string | undefined): void {
    this.#text = text;
    this.#version = version;
    if (this.#broken) this.#unkept = true; // the next successful write resets this
    this.#timer ??= setTimeout(() => this.flush(), DELAY);
  }

  /** Stores a pending text immediately. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#text) return;
    const writing = this.#store.write(this.#text(), this.#version);
    this.#text = undefined;
    const done = writing.then(
      () => {
        if (this.#last === done) this.#unkept = false;
      },
      () => {
        if (this.#last === done) this.#unkept = true;
      },
    );
    this.#last = done;
  }

  /** Removes the draft after its text has been saved or discarded. */
  async forget(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#text = undefined;
    this.#unkept = false;
    // Errors are ignored, because a draft that stays in the database after a save has the same text as the file.
    const removing = this.#last.then(() => this.#store.remove()).catch(() => {});
    this.#last = removing;
    await removing;
  }

  /** Stores a pending text and stops. */
  dispose(): void {
    this.flush();
    this.#gone();
  }
}

function isAt(info: DraftInfo, place: DraftPlace): boolean {
  return info.sandbox === place.sandbox && info.kind === place.kind && info.name === place.name;
}
