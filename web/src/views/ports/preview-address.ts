// A preview's URL (docs/wire.md, "Previews"). If possible, it has its own host name and therefore its own origin.

/** Maximum number of characters in a host name label (RFC 1035). */
const LABEL_MAX = 63;
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const LOOPBACK = /^(127\.0\.0\.1|\[::1\]|(.*\.)?localhost)$/;

export interface Preview {
  /** The parent domain of preview host names, if configured. */
  host: string | undefined;
  sandbox: string;
  port: number;
  token: string;
}

/** `base` is the gateway's URL. Names under `localhost` resolve only in browsers on the gateway's machine. */
export function previewAddress(base: string, { host, sandbox, port, token }: Preview): string {
  const url = new URL(`p/${sandbox}/${token}/`, base);
  const label = `${port}-${sandbox}-${token}`;
  const resolvable = host !== undefined && (host !== "localhost" || LOOPBACK.test(url.hostname));
  if (!resolvable || label.length > LABEL_MAX || !LABEL.test(sandbox)) return url.href;
  return `${url.protocol}//${label}.${host}${url.port && `:${url.port}`}/`;
}
