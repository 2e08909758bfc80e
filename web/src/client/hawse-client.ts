// The npm package's client: extends `GatewayClient` with sandboxes and argument checks. The page uses `GatewayClient`
// directly, and loads other parts of the client only when needed.

import { MisuseError } from "../wire/errors";
import { type ClientOptions, GatewayClient } from "./client";
import { type SandboxHandle, sandboxHandle } from "./sandbox";
import { Sandboxes } from "./sandboxes";

export class HawseClient extends GatewayClient {
  readonly #hasSocket: boolean;

  /** Throws MisuseError for an invalid option. */
  constructor(options: ClientOptions = {}) {
    for (const name of ["connectTimeout", "unavailableGiveUp"] as const) check(name, options[name]);
    super({ ...options, base: gatewayUrl(options.base) });
    this.#hasSocket = options.openSocket !== undefined || typeof WebSocket !== "undefined";
  }

  /** Connects like `GatewayClient.connect`. Throws MisuseError if the JavaScript environment has no WebSocket. */
  override connect(): void {
    if (!this.#hasSocket) {
      throw new MisuseError(
        "this runtime has no WebSocket: pass `openSocket`, for example with the package `ws`: " +
          "openSocket: (url, protocol) => new WebSocket(url, protocol)",
      );
    }
    super.connect();
  }

  /** Returns an object with the methods of sandbox `id`: `client.sandbox("local").exec("make")`. */
  sandbox(id = "local"): SandboxHandle {
    return sandboxHandle(this, id);
  }

  /** Creates and finds sandboxes on the gateway: `client.sandboxes.create({ template: "python" })`. */
  get sandboxes(): Sandboxes {
    return new Sandboxes(this);
  }
}

function check(name: string, seconds: number | undefined): void {
  if (seconds === undefined || seconds > 0) return;
  throw new MisuseError(`${name} is ${seconds}; more than 0 seconds are required`);
}

/** Returns the URL of the directory that contains `v1/`. Throws MisuseError. */
function gatewayUrl(given: URL | string | undefined): URL {
  const page = typeof document === "undefined" ? undefined : document.baseURI;
  const url = URL.canParse(given ?? ".", page) ? new URL(given ?? ".", page) : undefined;
  if (!url || !/^(https?|wss?):$/.test(url.protocol)) {
    const text = given === undefined ? "`base` is required outside of a page:" : `"${given}" is not`;
    throw new MisuseError(`${text} the URL of a gateway, such as http://127.0.0.1:8080/`);
  }
  // Tickets and sessions are requested over HTTP, so the base is an HTTP URL.
  url.protocol = url.protocol.replace("ws", "http");
  if (given !== undefined && !url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}
