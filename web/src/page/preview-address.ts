// Where a preview is (docs/wire.md, "Previews"): by name where that is possible, so that it has an origin of its own.

/** Characters of one label of a name (RFC 1035). */
const LABEL_MAX = 63;
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const LOOPBACK = /^(127\.0\.0\.1|\[::1\]|(.*\.)?localhost)$/;

export interface Preview {
  /** The name below which previews have names; undefined if they have none. */
  host: string | undefined;
  sandbox: string;
  port: number;
  token: string;
}

/** `base`: where the gateway is. Names below `localhost` are found only by browsers of the gateway's own machine. */
export function previewAddress(base: string, { host, sandbox, port, token }: Preview): string {
  const url = new URL(`p/${sandbox}/${token}/`, base);
  const label = `${port}-${sandbox}-${token}`;
  const found = host !== undefined && (host !== "localhost" || LOOPBACK.test(url.hostname));
  if (!found || label.length > LABEL_MAX || !LABEL.test(sandbox)) return url.href;
  return `${url.protocol}//${label}.${host}${url.port && `:${url.port}`}/`;
}
