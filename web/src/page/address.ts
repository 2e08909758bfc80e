// Parses the page's URL: `/?sandbox=local&terminal=main#token=…`.

export interface PageAddress {
  sandbox: string;
  terminal: string;
  /** The tree of splits (`frame/tree-text.ts`); undefined: only the terminal. */
  layout: string | undefined;
  /** From the fragment, which browsers do not send to servers. */
  token: string | undefined;
  /** The id and the key of a session that a login has started, `ID.KEY`, and the proof of the page that started it. */
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

/** Returns the URL without the token and the session: for the address bar, the history and links to share. */
export function withoutToken(href: string): string {
  const url = new URL(href);
  const fragment = new URLSearchParams(url.hash.slice(1));
  if (!CREDENTIALS.some(name => fragment.has(name))) return url.href;
  for (const name of CREDENTIALS) fragment.delete(name);
  url.hash = fragment.toString();
  return url.href.replace(/#$/, "");
}

/**
 * Returns a link to share. It names the sandbox and the terminal explicitly, also where `href` relies on the defaults.
 * `token`: a token to include, for recipients without one.
 */
export function shareLink(href: string, token?: string): string {
  const { sandbox, terminal } = readAddress(href);
  const url = new URL(withoutToken(href));
  url.searchParams.set("sandbox", sandbox);
  url.searchParams.set("terminal", terminal);
  if (token) url.hash = new URLSearchParams({ token }).toString();
  return url.href;
}

/** Returns the URL of the page of another sandbox, with its terminal `main`. */
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

/** Returns the URL of a tree of splits in the same sandbox. `layout` has only characters that a query keeps. */
export function layoutLink(href: string, layout: string): string {
  const url = new URL(".", href);
  url.searchParams.set("sandbox", readAddress(href).sandbox);
  // Not with `searchParams`, which encodes the parentheses, colons and commas.
  url.search += `&layout=${layout}`;
  return url.href;
}
