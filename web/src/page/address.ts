// What the page's address says: `/?sandbox=local&terminal=main#token=…`.

export interface PageAddress {
  sandbox: string;
  terminal: string;
  /** From the fragment, which browsers never send to a server. */
  token: string | undefined;
}

export function readAddress(href: string): PageAddress {
  const url = new URL(href);
  return {
    sandbox: url.searchParams.get("sandbox") || "local",
    terminal: url.searchParams.get("terminal") || "main",
    token: new URLSearchParams(url.hash.slice(1)).get("token") || undefined,
  };
}

/** The same address without its secret: for the address bar, the history and for others. */
export function withoutToken(href: string): string {
  const url = new URL(href);
  const fragment = new URLSearchParams(url.hash.slice(1));
  if (!fragment.has("token")) return url.href;
  fragment.delete("token");
  url.hash = fragment.toString();
  return url.href.replace(/#$/, "");
}

/**
 * A link for others: it names the terminal even where this page's address leaves it to the defaults. `token`: one that
 * may be given away, for whoever has none.
 */
export function shareLink(href: string, token?: string): string {
  const { sandbox, terminal } = readAddress(href);
  const url = new URL(withoutToken(href));
  url.searchParams.set("sandbox", sandbox);
  url.searchParams.set("terminal", terminal);
  if (token) url.hash = new URLSearchParams({ token }).toString();
  return url.href;
}
