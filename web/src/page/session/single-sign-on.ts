// Sign-in with the gateway's identity provider, if it has one (docs/access.md).

import { request } from "../../connection/requests";
import { withoutToken } from "../address";

/** Timeout for the request for the provider's name, in milliseconds. */
const TIMEOUT = 10_000;

/**
 * Shows the login link, with the provider's name. If there is no provider, the link stays hidden.
 *
 * Providers and browsers refuse logins in a frame, so there the link opens this page in a new tab.
 *
 * @param proof - The page's proof, which the login returns.
 * @param framed - Whether this page is embedded in another page.
 */
export async function showSingleSignOn(
  link: HTMLAnchorElement,
  base: URL,
  href: string,
  proof: string,
  framed: boolean,
): Promise<void> {
  const init = { signal: AbortSignal.timeout(TIMEOUT) };
  const { provider } = await request(new URL("v1/login/info", base), init).catch(() => ({ provider: null }));
  if (typeof provider !== "string") return;
  link.textContent = framed ? `Open in a new tab to sign in with ${provider}` : `Sign in with ${provider}`;
  link.href = framed ? withoutToken(href) : loginAddress(base, href, proof);
  if (framed) link.target = "_blank";
  link.hidden = false;
}

/** Returns the address of the login, which leads back to the page at `href`. */
export function loginAddress(base: URL, href: string, proof: string): string {
  const page = new URL(withoutToken(href));
  const url = new URL("v1/login", base);
  url.searchParams.set("return", page.pathname + page.search);
  url.searchParams.set("proof", proof);
  return url.href;
}
