// Unsaved texts, stored in the browser until they are saved or discarded: a reload, a closed tab or a crash loses nothing.
// They belong to a user: another user of the same browser does not see them. Each tab has its own drafts, so that two tabs
// with one file do not overwrite each other's drafts. When a tab is gone, the next tab that opens the file takes its draft.

import { type Disposable, DisposableList } from "./disposables";
import type { DraftDatabase, DraftInfo } from "./draft-database";

/** Milliseconds to collect changes before they are stored. */
const DELAY = 250;
/** Limits for all pages of a gateway. The oldest drafts are removed first. */
const DRAFTS_MAX = 64;
/** UTF-16 code units of one text (the largest file that the editor opens), and of all texts. */
const TEXT_MAX = 8_388_608;
const TOTAL_MAX = 33_554_432;
/** Milliseconds: 30 days. */
const AGE_MAX = 30 * 86_400_000;

export type DraftPlace = Pick<DraftInfo, "sandbox" | "kind" | "name">;

export interface DraftsOptions {
  readonly database: DraftDatabase;
  readonly identity: string;
  /** Id of this browser tab; a reload keeps it. */
  readonly tab: string;
  /** Reserves a tab's id for this page; returns false if another page uses it. */
  readonly claim: (tab: string) => Promise<boolean>;
  /** Returns the ids of the tabs in use. */
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

  /** Stores pending texts when the page is left or hidden. The browser asks before leaving if a text could not be stored. */
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

  /** Whether a text of this page could not be stored. */
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

  /** Returns the files of a sandbox whose drafts no other page shows, the latest first. */
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

  /** Removes all drafts of the user, at sign-out. */
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

  /** The id of this tab, or a new one if a copy of this tab uses it. */
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
    // While a page closes, only writes that start at once are stored. So this does not wait if the tab's id is already
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

/** The draft of one text in this page. */
export class DraftSlot implements Disposable {
  readonly #store: SlotStore;
  readonly #gone: () => void;
  #text: (() => string) | undefined;
  #version: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unkept = false;
  /** Reading has failed: the browser stores nothing. */
  #broken = false;
  /** The latest write or removal. A removal waits for it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: SlotStore, gone: () => void) {
    this.#store = store;
    this.#gone = gone;
  }

  /** Whether the latest text could not be stored. */
  get unkept(): boolean {
    return this.#unkept;
  }

  /** Returns the stored draft; undefined if there is none, or if the browser stores nothing. */
  read(): Promise<KeptDraft | undefined> {
    return this.#store.read().catch(() => {
      this.#broken = true;
      return undefined;
    });
  }

  /** Stores a text soon; calls `text` at that time. */
  keep(text: () => string, version: string | undefined): void {
    this.#text = text;
    this.#version = version;
    if (this.#broken) this.#unkept = true; // until a write succeeds
    this.#timer ??= setTimeout(() => this.flush(), DELAY);
  }

  /** Stores a pending text now. */
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

  /** Removes the draft: the text is saved or discarded. */
  async forget(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#text = undefined;
    this.#unkept = false;
    const removing = this.#last.then(() => this.#store.remove()).catch(() => {}); // it is as old as the file then
    this.#last = removing;
    await removing;
  }

  /** Stores a pending text and ends. */
  dispose(): void {
    this.flush();
    this.#gone();
  }
}

function isAt(info: DraftInfo, place: DraftPlace): boolean {
  return info.sandbox === place.sandbox && info.kind === place.kind && info.name === place.name;
}
