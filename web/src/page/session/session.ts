// This page's session. A token is immediately exchanged for a cookie and a key. The page keeps only the key, which is
// useless without the cookie. The key is stored per tab, and also per browser for new tabs (docs/decisions/0280). In a
// frame, the cookie is partitioned and the key is stored only per tab (docs/decisions/0370).

import { beginSession, endSession, keepSession, type SessionInfo } from "../../connection/sessions";
import { requestTicket, requestTicketOfSession } from "../../connection/tickets";
import { HawseError } from "../../wire/errors";
import { type PageAddress, withoutToken } from "../address";

const KEY = "hawse.session";
const KNOWN = "hawse.sessions";
const PROOF = "hawse.login";
/** Maximum number of sessions in a browser; the gateway has the same limit. */
const KNOWN_MAX = 16;
/** Timeout for the page's own requests, in milliseconds. */
const TIMEOUT = 10_000;
/** Passed to the client instead of a token, because `ticket` doesn't need one. */
export const BY_SESSION = "session";
const PROBE = "hawse-probe=1";
/** Shown if a link must be exchanged for a session, but the browser refuses the session's cookie. */
const NO_COOKIE =
  "This link has a limited number of uses, so it needs a cookie, and your browser refuses cookies in this frame. " +
  "Open the link in a new tab.";
/** Prefix for share link tokens. */
const LINK = "hws_";

/** The kind of credential that the user signed in with. */
export type SignedInWith = "token" | "session" | "link";

export interface SessionStorages {
  /** The tab's storage. */
  tab: () => Storage;
  /** The browser's storage. */
  browser: () => Storage;
}

/** The credentials in the page address. */
export type GivenCredentials = Partial<Pick<PageAddress, "token" | "session" | "proof">>;

/** How this page is embedded in another page. */
export interface Frame {
  /** Whether the session's cookie is partitioned. Browsers accept such cookies only in a secure context. */
  partitioned: boolean;
  /** Whether the browser accepts cookies in this frame. If it doesn't, the page keeps its token in memory. */
  cookies: boolean;
}

interface Stored {
  /** The session's id and key, `ID.KEY`. */
  session: string;
  guest: boolean;
}

export class PageSession {
  readonly #storages: SessionStorages;
  readonly #frame: Frame | undefined;
  #token: string | undefined;
  #session: string | undefined;
  #guestToken: string | undefined;
  #with: SignedInWith = "token";

  constructor(storages: SessionStorages, given: GivenCredentials = {}, frame?: Frame) {
    this.#storages = storages;
    this.#frame = frame;
    const proof = attempt(() => storages.tab().getItem(PROOF));
    if (given.token) this.signIn(given.token);
    else if (given.session && frame) this.#use({ session: given.session, guest: false });
    else if (given.session && proof && given.proof === proof) {
      attempt(() => storages.tab().removeItem(PROOF));
      this.#save({ session: given.session, guest: false });
    } else {
      const found = load(storages.tab) ?? load(storages.browser);
      if (found) this.#use(found);
      else if (attempt(() => storages.tab().getItem(KEY)) === endedAt(location)) this.#with = "link";
    }
  }

  get #partitioned(): boolean {
    return this.#frame?.partitioned ?? false;
  }

  /** The credential for the client; undefined if the user has to sign in. */
  get credential(): string | undefined {
    return this.#token || this.#session ? BY_SESSION : undefined;
  }

  /** The share link's token, kept until the page is reloaded so that guests can pass it on. */
  get guestToken(): string | undefined {
    return this.#guestToken;
  }

  /** The kind of credential that the user signed in with; kept even after the credential is no longer valid. */
  get signedInWith(): SignedInWith {
    return this.#with;
  }

  /** Whether this page is embedded in another page. */
  get framed(): boolean {
    return this.#frame !== undefined;
  }

  /** The random text that a login at an identity provider returns to prove that this page started the login. */
  get proof(): string {
    const stored = attempt(() => this.#storages.tab().getItem(PROOF));
    if (stored) return stored;
    const proof = Array.from(crypto.getRandomValues(new Uint8Array(24)), byte =>
      byte.toString(16).padStart(2, "0"),
    ).join("");
    attempt(() => this.#storages.tab().setItem(PROOF, proof));
    return proof;
  }

  /** Sets the token to be exchanged by the next `ticket`. */
  signIn(token: string): void {
    this.#token = token;
    this.#with = token.startsWith(LINK) ? "link" : "token";
  }

  /** Returns a ticket, after exchanging any new token for a session. Throws HawseError. */
  readonly ticket = async (base: URL, _: string, signal: AbortSignal): Promise<string> => {
    const token = this.#token;
    if (!token) return requestTicketOfSession(base, this.#session ?? "", signal, this.#partitioned);
    if (this.#frame?.cookies === false) return this.#ticketOfToken(base, token, signal);
    const sessions = known(this.#storages.browser);
    const started = await beginSession(base, token, sessions, signal, this.#partitioned);
    this.#keep(token, started);
    return requestTicketOfSession(base, started.session, signal, this.#partitioned);
  };

  /** Returns a ticket for a download. Throws HawseError. */
  downloadTicket(): Promise<string> {
    return this.ticket(base(), BY_SESSION, AbortSignal.timeout(TIMEOUT));
  }

  /** Keeps the session alive while the page is open. Throws HawseError. */
  async keep(): Promise<void> {
    if (this.#session) await keepSession(base(), this.#session, this.#partitioned);
  }

  /** Ends the session in this tab and in other tabs that use it. Throws HawseError. */
  async end(): Promise<void> {
    const kind = this.#with;
    this.#with = "token"; // the user has ended the session and can sign in again
    try {
      if (this.#session) return await endSession(base(), this.#session, this.#partitioned);
    } catch (problem) {
      this.#with = kind;
      throw problem;
    }
    this.forget();
    location.reload();
  }

  /** Forgets a session or token that is no longer valid. */
  forget(): void {
    const { tab, browser } = this.#storages;
    for (const storage of [tab, browser])
      if (load(storage)?.session === this.#session) attempt(() => storage().removeItem(KEY));
    if (this.#session) this.#remember(known(browser).filter(each => each !== this.#session));
    // Guests can't use another token: after a reload, the page reports again that the link has ended.
    if (this.#with === "link") attempt(() => tab().setItem(KEY, endedAt(location)));
    if (this.#frame) history.replaceState(history.state, "", withoutToken(location.href));
    this.#token = undefined;
    this.#session = undefined;
    this.#guestToken = undefined;
  }

  async #ticketOfToken(base: URL, token: string, signal: AbortSignal): Promise<string> {
    try {
      const ticket = await requestTicket(base, token, signal);
      this.#guestToken = this.#with === "link" ? token : undefined;
      return ticket;
    } catch (problem) {
      // A link with a limited number of uses can't be used as a token; it must be exchanged for a session.
      if (!(problem instanceof HawseError && problem.code === "forbidden")) throw problem;
      throw new HawseError("cookie_refused", NO_COOKIE, { retryable: false });
    }
  }

  /** Replaces a token with the session that was started with it. */
  #keep(token: string, { session, kind }: SessionInfo): void {
    if (this.#token === token) this.#token = undefined;
    const guest = kind === "guest";
    this.#guestToken = guest ? token : undefined;
    this.#save({ session, guest });
    if (!this.#frame) return;
    const address = withoutToken(location.href);
    const stored = load(this.#storages.tab)?.session === session;
    history.replaceState(history.state, "", stored ? address : `${address}#session=${session}`);
  }

  #use({ session, guest }: Stored): void {
    this.#session = session;
    this.#with = guest ? "link" : "session";
  }

  #save(stored: Stored): void {
    this.#use(stored);
    const { tab, browser } = this.#storages;
    this.#remember([stored.session, ...known(browser).filter(each => each !== stored.session)]);
    attempt(() => tab().setItem(KEY, JSON.stringify(stored)));
    // If a user opens a link, it doesn't replace the user's own session in tabs opened later.
    if (stored.guest && load(browser)?.guest === false) return;
    attempt(() => browser().setItem(KEY, JSON.stringify(stored)));
  }

  #remember(sessions: readonly string[]): void {
    attempt(() => this.#storages.browser().setItem(KNOWN, JSON.stringify(sessions.slice(0, KNOWN_MAX))));
  }
}

/** Returns this page's session, and removes the credentials from the page address. */
export function sessionOfPage(address: PageAddress): PageSession {
  const tab = () => sessionStorage;
  // A frame neither uses nor changes the user's own sessions. Its token stays in the address, because until the frame
  // has a session, it needs the token after a reload.
  if (window.self !== window.top) {
    const partitioned = isSecureContext;
    const cookies = attempt(() => acceptsCookies(partitioned)) ?? false;
    return new PageSession({ tab, browser: tab }, address, { partitioned, cookies });
  }
  history.replaceState(history.state, "", withoutToken(location.href));
  return new PageSession({ tab, browser: () => localStorage }, address);
}

/** Returns whether the browser accepts cookies in this frame, after setting one and deleting it. */
function acceptsCookies(partitioned: boolean): boolean {
  const attributes = partitioned ? "SameSite=None; Secure; Partitioned" : "SameSite=Strict";
  const set = (age: number) => {
    // biome-ignore lint/suspicious/noDocumentCookie: Firefox does not have the Cookie Store API in all versions.
    document.cookie = `${PROBE}; Max-Age=${age}; ${attributes}`;
  };
  set(60);
  const accepted = document.cookie.includes(PROBE);
  set(0);
  return accepted;
}

function base(): URL {
  return new URL(".", document.baseURI);
}

/**
 * Returns the value that a tab stores once its link has ended. It includes the page's address, so that the tab can
 * still open a different link.
 */
function endedAt({ pathname, search }: Location): string {
  return JSON.stringify({ ended: pathname + search });
}

function load(storage: () => Storage): Stored | undefined {
  const value: unknown = attempt(() => JSON.parse(storage().getItem(KEY) ?? ""));
  if (typeof value !== "object" || value === null) return undefined;
  const { session, guest } = value as Record<string, unknown>;
  return typeof session === "string" && session ? { session, guest: guest === true } : undefined;
}

/** Returns the sessions in this browser, latest first. */
function known(storage: () => Storage): string[] {
  const value: unknown = attempt(() => JSON.parse(storage().getItem(KNOWN) ?? ""));
  return Array.isArray(value) ? value.filter(each => typeof each === "string").slice(0, KNOWN_MAX) : [];
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined; // the storage is full or disabled
  }
}
