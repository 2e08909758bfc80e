// The session of this page. A token is exchanged for a cookie at once; the page keeps only the id of the session, which
// is not secret: per tab, and per browser for new tabs.

import { beginSession, endSession, keepSession } from "../connection/sessions";
import { requestTicketOfSession } from "../connection/tickets";

const KEY = "hawse.session";
/** Milliseconds that a request of the page itself may take. */
const TIMEOUT = 10_000;
/** What the client gets in place of a token: `ticket` does not need it. */
export const BY_SESSION = "session";

export interface SessionStorages {
  /** Of this tab. */
  tab: () => Storage;
  /** Of the browser. */
  browser: () => Storage;
}

interface Stored {
  id: string;
  guest: boolean;
}

export class PageSession {
  readonly #storages: SessionStorages;
  #token: string | undefined;
  #id: string | undefined;
  #guestToken: string | undefined;

  /** `given`: the token or the session of the page's address. */
  constructor(
    storages: SessionStorages,
    given: { token?: string | undefined; session?: string | undefined } = {},
  ) {
    this.#storages = storages;
    this.#token = given.token;
    if (given.session) this.#save({ id: given.session, guest: false });
    else if (!given.token) this.#id = (load(storages.tab) ?? load(storages.browser))?.id;
  }

  /** What the client is created with; undefined: the user has to sign in. */
  get credential(): string | undefined {
    return this.#token || this.#id ? BY_SESSION : undefined;
  }

  /** The token of a share link, until the page is reloaded: guests may pass it on. */
  get guestToken(): string | undefined {
    return this.#guestToken;
  }

  /** The next `ticket` exchanges this token. */
  signIn(token: string): void {
    this.#token = token;
  }

  /** Returns a ticket, after the exchange of a token. Throws HawseError. */
  readonly ticket = async (base: URL, _: string, signal: AbortSignal): Promise<string> => {
    if (this.#token) {
      const token = this.#token;
      const { session, kind } = await beginSession(base, token, signal);
      if (this.#token === token) this.#token = undefined;
      this.#guestToken = kind === "guest" ? token : undefined;
      this.#save({ id: session, guest: kind === "guest" });
    }
    return requestTicketOfSession(base, this.#id ?? "", signal);
  };

  /** Returns a ticket for a download. Throws HawseError. */
  downloadTicket(): Promise<string> {
    return this.ticket(base(), BY_SESSION, AbortSignal.timeout(TIMEOUT));
  }

  /** Keeps the session from ending while the page is open. Throws HawseError. */
  async keep(): Promise<void> {
    if (this.#id) await keepSession(base(), this.#id);
  }

  /** Ends the session, here and in the other tabs that use it. Throws HawseError. */
  async end(): Promise<void> {
    if (this.#id) await endSession(base(), this.#id);
  }

  /** Forgets a session that has ended. */
  forget(): void {
    for (const storage of [this.#storages.tab, this.#storages.browser])
      if (load(storage)?.id === this.#id) attempt(() => storage().removeItem(KEY));
    this.#token = undefined;
    this.#id = undefined;
    this.#guestToken = undefined;
  }

  #save(stored: Stored): void {
    this.#id = stored.id;
    attempt(() => this.#storages.tab().setItem(KEY, JSON.stringify(stored)));
    // A link that a user opens does not replace the user's own session in later tabs.
    if (stored.guest && load(this.#storages.browser)?.guest === false) return;
    attempt(() => this.#storages.browser().setItem(KEY, JSON.stringify(stored)));
  }
}

function base(): URL {
  return new URL(".", document.baseURI);
}

function load(storage: () => Storage): Stored | undefined {
  const value: unknown = attempt(() => JSON.parse(storage().getItem(KEY) ?? ""));
  if (typeof value !== "object" || value === null) return undefined;
  const { id, guest } = value as Record<string, unknown>;
  return typeof id === "string" && id ? { id, guest: guest === true } : undefined;
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined; // the storage is full or forbidden
  }
}
