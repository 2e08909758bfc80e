// Parses the page's URL: `/?sandbox=local&terminal=main#token=…`.

export interface PageAddress {
  sandbox: string;
  terminal: string;
  /** The tree of splits (`frame/tree-text.ts`). If undefined, the page shows only the terminal. */
  layout: string | undefined;
  /** The token in the fragment, which browsers do not send to servers. */
  token: string | undefined;
  /**
   * The id and key (`ID.KEY`) of a session that a login has started, and the proof of the page that started the login.
   */
  session: string | undefined;
  proof: string | undefined;
}

const CREDENTIALS = ["token", "session", "proof"];

export function readAddress(href: string): PageAddress {
  const url = new URL(href);
  const fragment = new URLSearchParams(url.hash.slice(1));
  return {
    sandbox: url.searchParams.get("sandbox") || "local",
    terminal: url.searchParams.get("terminal") || "main",
    layout: url.searchParams.get("layout") || undefined,
    token: fragment.get("token") || undefined,
    session: fragment.get("session") || undefined,
    proof: fragment.get("proof") || undefined,
  };
}

/** Returns the URL without the token and the session, for the address bar, the history and shared links. */
export function withoutToken(href: string): string {
  const url = new URL(href);
  const fragment = new URLSearchParams(url.hash.slice(1));
  if (!CREDENTIALS.some(name => fragment.has(name))) return url.href;
  for (const name of CREDENTIALS) fragment.delete(name);
  url.hash = fragment.toString();
  return url.href.replace(/#$/, "");
}

/**
 * Returns a link to share. It names the sandbox and the terminal explicitly, even if `href` relies on the defaults.
 * `token` is included for recipients who have no token.
 */
export function shareLink(href: string, token?: string): string {
  const { sandbox, terminal } = readAddress(href);
  const url = new URL(withoutToken(href));
  url.searchParams.set("sandbox", sandbox);
  url.searchParams.set("terminal", terminal);
  if (token) url.hash = new URLSearchParams({ token }).toString();
  return url.href;
}

/** Returns the URL of another sandbox's page, with its terminal `main`. */
export function sandboxLink(href: string, sandbox: string): string {
  const url = new URL(".", href);
  url.searchParams.set("sandbox", sandbox);
  return url.href;
}

/** Returns the URL of another terminal of the same sandbox, without a token. */
export function terminalLink(href: string, terminal: string): string {
  const url = new URL(".", href);
  url.searchParams.set("sandbox", readAddress(href).sandbox);
  url.searchParams.set("terminal", terminal);
  return url.href;
}

/**
 * Returns the URL of a tree of splits in the same sandbox. `layout` contains only characters that need no escaping in a
 * query.
 */
export function layoutLink(href: string, layout: string): string {
  const url = new URL(".", href);
  url.searchParams.set("sandbox", readAddress(href).sandbox);
  // `searchParams` is not used, because it encodes parentheses, colons and commas.
  url.search += `&layout=${layout}`;
  return url.href;
}
