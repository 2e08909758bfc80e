// Stores texts in the browser's database (IndexedDB), which survives a browser crash.

/** A draft without its text. */
export interface DraftInfo {
  readonly key: string;
  /** Ids of the user's principal and the sandbox, and the object being edited. */
  readonly identity: string;
  readonly sandbox: string;
  readonly kind: "file" | "notebook";
  readonly name: string;
  /** Id of the browser tab that wrote the draft. */
  readonly tab: string;
  /** Version of the file being edited; undefined if the file had no version. */
  readonly version: string | undefined;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Length of the text in UTF-16 code units. */
  readonly size: number;
}

export interface DraftDatabase {
  list(): Promise<readonly DraftInfo[]>;
  text(key: string): Promise<string | undefined>;
  /** Starts the write without waiting for its result, because the page may be about to close. */
  put(info: DraftInfo, text: string): Promise<void>;
  delete(keys: readonly string[]): Promise<void>;
}

const INFOS = "infos";
const TEXTS = "texts";

/** Opens the database. Its methods reject if the browser has no database or the database is full. */
export function browserDrafts(): DraftDatabase {
  let open: Promise<IDBDatabase> | undefined;
  let opened: IDBDatabase | undefined;
  const database = (): Promise<IDBDatabase> => {
    open ??= connect().then(
      found => {
        opened = found;
        // This event is sent when the user deletes the page's data in the browser.
        found.onclose = () => {
          open = opened = undefined;
        };
        return found;
      },
      error => {
        open = undefined;
        throw error;
      },
    );
    return open;
  };
  const write = async (work: (infos: IDBObjectStore, texts: IDBObjectStore) => void): Promise<void> => {
    const transaction = (opened ?? (await database())).transaction([INFOS, TEXTS], "readwrite");
    work(transaction.objectStore(INFOS), transaction.objectStore(TEXTS));
    transaction.commit();
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () =>
        reject(transaction.error ?? new Error("the browser did not store the text"));
    });
  };
  const read = async <T>(store: string, ask: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> => {
    const request = ask((await database()).transaction(store).objectStore(store));
    return settled(request);
  };
  return {
    list: () => read<DraftInfo[]>(INFOS, store => store.getAll()),
    text: key => read<string | undefined>(TEXTS, store => store.get(key)),
    put: (info, text) =>
      write((infos, texts) => {
        infos.put(info);
        texts.put(text, info.key);
      }),
    delete: keys =>
      write((infos, texts) => {
        for (const key of keys) {
          infos.delete(key);
          texts.delete(key);
        }
      }),
  };
}

function connect(): Promise<IDBDatabase> {
  const request = indexedDB.open("hawse.drafts", 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(INFOS, { keyPath: "key" });
    request.result.createObjectStore(TEXTS);
  };
  return settled(request);
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the browser stores no data for this page"));
  });
}
