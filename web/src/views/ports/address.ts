// The addresses of previews, as seen from this page.

import type { GatewayClient } from "../../client/client";
import { previewAddress } from "./preview-address";

export class PreviewAddresses {
  readonly #client: Pick<GatewayClient, "call">;
  readonly #sandbox: string;
  readonly #base: string;
  #host: Promise<string | undefined> | undefined;

  /** `base` is the gateway's URL. */
  constructor(client: Pick<GatewayClient, "call">, sandbox: string, base: string) {
    this.#client = client;
    this.#sandbox = sandbox;
    this.#base = base;
  }

  /** Returns the URL of a preview. Throws HawseError. */
  async of({ port, token }: { port: number; token: string }): Promise<string> {
    this.#host ??= this.#client.call("preview.host").then(
      ({ host }) => host ?? undefined,
      error => {
        this.#host = undefined;
        throw error;
      },
    );
    return previewAddress(this.#base, { host: await this.#host, sandbox: this.#sandbox, port, token });
  }
}

/**
 * Returns the path, including any query and fragment, from the text that the user entered: a path such as `app` or
 * `/app?x=1`, or an address such as `localhost:5173/app`.
 */
export function pathOf(text: string): string {
  const trimmed = text.trim();
  const address = /^(?:https?:\/\/)?(?:[\w.-]+|\[[0-9a-f:]*\])?:\d+(\/.*)?$/i.exec(trimmed);
  if (address) return address[1] ?? "/";
  if (/^https?:\/\//i.test(trimmed) && URL.canParse(trimmed)) {
    const { pathname, search, hash } = new URL(trimmed);
    return pathname + search + hash;
  }
  return `/${trimmed.replace(/^\/+/, "")}`;
}
