// The address of a tunnel (docs/wire.md, "Tunnels"), as this page sees it.

import type { TunnelInfo } from "../../wire/methods";

const LOOPBACK = /^(127\.0\.0\.1|\[::1\]|(.*\.)?localhost)$/;

/** `base`: the gateway's URL. Names below `localhost` resolve only in browsers on the gateway's machine. */
export function tunnelAddress(
  base: string,
  { kind, host, path, public_port }: Pick<TunnelInfo, "kind" | "host" | "path" | "public_port">,
): string {
  const url = new URL(base);
  if (path == null) return `${kind}://${host ?? url.hostname}:${public_port}`;
  if (host == null || (host.endsWith(".localhost") && !LOOPBACK.test(url.hostname)))
    return new URL(path.replace(/^\//, ""), base).href;
  return `${url.protocol}//${host}${url.port && `:${url.port}`}/`;
}
