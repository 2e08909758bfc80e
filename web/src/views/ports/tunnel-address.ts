// A tunnel's address (docs/wire.md, "Tunnels"), as seen from this page.

import type { TunnelInfo } from "../../wire/methods";

const LOOPBACK = /^(127\.0\.0\.1|\[::1\]|(.*\.)?localhost)$/;

type Address = Pick<TunnelInfo, "kind" | "host" | "path" | "public_port" | "url" | "problem">;

/**
 * `base` is the gateway's URL. Names under `localhost` resolve only in browsers on the gateway's machine. Returns null
 * if the tunnel can't be reached now.
 */
export function tunnelAddress(base: string, tunnel: Address): string | null {
  const { kind, host, path, public_port } = tunnel;
  if (tunnel.url != null || tunnel.problem != null) return tunnel.url ?? null;
  const url = new URL(base);
  if (path == null) return `${kind}://${host ?? otherName(url.hostname)}:${public_port}`;
  if (host == null || (host.endsWith(".localhost") && !LOOPBACK.test(url.hostname)))
    return new URL(path.replace(/^\//, ""), base).href;
  return `${url.protocol}//${host}${url.port && `:${url.port}`}/`;
}

/**
 * Browsers send a host name's cookies to all of its ports. On this machine, ports therefore have a different host name
 * from the page.
 */
function otherName(hostname: string): string {
  if (hostname === "localhost") return "127.0.0.1";
  return LOOPBACK.test(hostname) ? "localhost" : hostname;
}
