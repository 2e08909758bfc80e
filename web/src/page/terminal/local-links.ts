// Links to programs in the sandbox: in a terminal, `http://localhost:5173/` refers to a port in the sandbox, not on the
// user's machine.

export interface LocalAddress {
  port: number;
  /** Path, query and fragment, including the leading slash. */
  path: string;
}

const HOSTS = new Set(["localhost", "127.0.0.1", "0.0.0.0", "[::1]", "[::]"]);

/** Returns the port and path of a link to the sandbox; undefined for any other link. */
export function localAddress(uri: string): LocalAddress | undefined {
  if (!URL.canParse(uri)) return undefined;
  const { protocol, hostname, port, pathname, search, hash } = new URL(uri);
  if ((protocol !== "http:" && protocol !== "https:") || !HOSTS.has(hostname)) return undefined;
  return { port: Number(port) || (protocol === "http:" ? 80 : 443), path: pathname + search + hash };
}

/** Opens a link in a new browser tab. */
export function openLink(uri: string): void {
  if (/^(https?|mailto):/i.test(uri)) window.open(uri, "_blank", "noopener,noreferrer");
}
