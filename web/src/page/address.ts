// Parses the page's URL: `/?sandbox=local&terminal=main#token=…`.

export interface PageAddress {
  sandbox: string;
  terminal: string;
  /** The tree of splits (`frame/tree-text.ts`). If undefined, only the terminal is shown. */
  layout: string | undefined;
  /** The token from the URL fragment, which browsers don't send to servers. */
  token: string | undefined;
  /** The id and key (`ID.KEY`) of a session started by a login, and the proof from the page that started the login. */
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
 * Returns the URL of another page of the gateway, to be opened in this tab. It includes any session in the fragment of
 * `href`. Only a page that is in a frame and can't store anything has its session there (`PageSession`).
 */
export function withSession(url: string, href: string): string {
  const { session } = readAddress(href);
  const target = new URL(url, href);
  if (session) target.hash = new URLSearchParams({ session }).toString();
  return target.href;
}

/**
 * Returns a link to share. It names the sandbox and the terminal explicitly, even if `href` relies on the defaults.
 * `token` is included for recipients who don't have one.
 */
export function shareLink(href: string, token?: string): string {
  const { sandbox, terminal } = readAddress(href);
  const url = new URL(withoutToken(href));
  url.searchParams.set("sandbox", sandbox);
  url.searchParams.set("terminal", terminal);
  if (token) url.hash = new URLSearchParams({ token }).toString();
  return url.href;
}

/** Returns the URL of another sandbox's page, showing its terminal `main`. */
export function sandboxLink(href: string, sandbox: string): string {
  const url = new URL(".", href);
  url.searchParams.set("sandbox", sandbox);
  return withSession(url.href, href);
}

/** Returns the URL of another terminal in the same sandbox, without a token. */
export function terminalLink(href: string, terminal: string): string {
  const url = new URL(".", href);
  url.searchParams.set("sandbox", readAddress(href).sandbox);
  url.searchParams.set("terminal", terminal);
  return url.href;
}

/**
 * Returns the URL for a tree of splits in the same sandbox. `layout` contains only characters that don't need escaping
 * in a query.
 */
export function layoutLink(href: string, layout: string): string {
  const url = new URL(".", href);
  url.searchParams.set("sandbox", readAddress(href).sandbox);
  // `searchParams` isn't used because it encodes parentheses, colons and commas.
  url.search += `&layout=${layout}`;
  return url.href;
}
