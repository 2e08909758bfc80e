// The client of the npm package. The page uses `GatewayClient`, so that it loads the rest only when it needs that.

import { GatewayClient } from "./client";
import { type SandboxHandle, sandboxHandle } from "./sandbox";
import { Sandboxes } from "./sandboxes";

export class HawseClient extends GatewayClient {
  /** The sandbox `id` with its methods: `client.sandbox("local").exec("make")`. */
  sandbox(id = "local"): SandboxHandle {
    return sandboxHandle(this, id);
  }

  /** The sandboxes of the gateway: `client.sandboxes.create({ template: "python" })`. */
  get sandboxes(): Sandboxes {
    return new Sandboxes(this);
  }
}
