// A gateway's sandboxes: creates, finds, changes and deletes them. If the connection is lost before the outcome of a
// call arrives, the call is repeated with the sandbox's id.

import { randomId } from "../base/random-id";
import { HawseError } from "../wire/errors";
import type {
  GatewayMethods,
  SandboxCreate,
  SandboxInfo,
  SandboxUpdate,
  SandboxWatch,
  TemplateInfo,
} from "../wire/methods";
import type { CallArguments } from "./calls";
import type { GatewayClient } from "./client";
import { type SandboxHandle, sandboxHandle } from "./sandbox";
import { MethodStream } from "./streams";

type Managing =
  | "sandbox.create"
  | "sandbox.delete"
  | "sandbox.pause"
  | "sandbox.resume"
  | "sandbox.start"
  | "sandbox.stop"
  | "sandbox.update";

export class Sandboxes {
  readonly #client: GatewayClient;

  constructor(client: GatewayClient) {
    this.#client = client;
  }

  /**
   * Creates a sandbox, starts it and returns it. Calling it again with the same `id` and options returns the existing
   * sandbox. Without an `id`, the sandbox gets a random one. Throws HawseError.
   */
  async create(options: SandboxCreate = {}): Promise<SandboxHandle> {
    const create = async (prefix: string): Promise<SandboxHandle> => {
      const id = options.id ?? `${prefix}${randomId().slice(0, 10)}`;
      await this.#manage("sandbox.create", { ...options, id });
      return sandboxHandle(this.#client, id);
    };
    try {
      return await create("s-");
    } catch (problem) {
      // Users who only have access to their own sandboxes must use an id prefix.
      const prefix = problem instanceof HawseError && !options.id ? problem.details.prefix : undefined;
      if (typeof prefix !== "string") throw problem;
      return await create(prefix);
    }
  }

  /** Returns the gateway's record of a sandbox, without starting the sandbox. Throws HawseError. */
  async get(id: string): Promise<SandboxInfo> {
    return await this.#client.call("sandbox.get", { id }, { key: randomId() });
  }

  /** Returns the sandboxes that have all of the given labels, without starting them. Throws HawseError. */
  async list(labels: Record<string, string> = {}): Promise<SandboxInfo[]> {
    const found: SandboxInfo[] = [];
    let after: string | null = null;
    do {
      const page: GatewayMethods["sandbox.list"]["result"] = await this.#client.call(
        "sandbox.list",
        { labels, after },
        { key: randomId() },
      );
      found.push(...page.sandboxes);
      after = page.after ?? null;
    } while (after !== null);
    return found;
  }

  /** Reports the sandboxes that have all of the given labels, and then any changes to them. */
  watch(params: SandboxWatch = {}): MethodStream<"sandbox.watch"> {
    return new MethodStream(this.#client, "sandbox.watch", params);
  }

  /** Returns the gateway's templates, for use with `create`. Throws HawseError. */
  async templates(): Promise<TemplateInfo[]> {
    return (await this.#client.call("template.list", {}, { key: randomId() })).templates;
  }

  /**
   * Starts a sandbox, even if it was stopped. A sleeping sandbox is also started by any call to it. Throws HawseError.
   */
  async start(id: string): Promise<SandboxInfo> {
    return await this.#manage("sandbox.start", { id });
  }

  /**
   * Ends all processes in a sandbox, and refuses calls until `start` is called. Its files are kept. Throws HawseError.
   */
  async stop(id: string): Promise<SandboxInfo> {
    return await this.#manage("sandbox.stop", { id });
  }

  /** Suspends all processes in a sandbox, and refuses calls until `resume` is called. Throws HawseError. */
  async pause(id: string): Promise<SandboxInfo> {
    return await this.#manage("sandbox.pause", { id });
  }

  /** Resumes a paused sandbox. Throws HawseError. */
  async resume(id: string): Promise<SandboxInfo> {
    return await this.#manage("sandbox.resume", { id });
  }

  /**
   * Changes a sandbox's environment, labels and timeouts. Fields that are omitted keep their values. Throws HawseError.
   */
  async update(id: string, changes: Omit<SandboxUpdate, "id">): Promise<SandboxInfo> {
    return await this.#manage("sandbox.update", { ...changes, id });
  }

  /** Ends all processes in a sandbox and removes its files. Throws HawseError. */
  async delete(id: string): Promise<void> {
    await this.#manage("sandbox.delete", { id });
  }

  async #manage<M extends Managing>(
    method: M,
    params: GatewayMethods[M]["params"] & { id: string },
  ): Promise<GatewayMethods[M]["result"]> {
    const call = () =>
      this.#client.call(method, ...([params, { key: randomId() }] as unknown as CallArguments<M>));
    try {
      return await call();
    } catch (problem) {
      // The gateway was restarted and no longer knows the call's key. Repeating the call is safe anyway, because it
      // names the sandbox's id.
      if (!(problem instanceof HawseError) || problem.code !== "outcome_unknown") throw problem;
    }
    try {
      return await call();
    } catch (problem) {
      const gone = problem instanceof HawseError && problem.code === "not_found";
      // If the sandbox is gone, the first call has already deleted it.
      if (method === "sandbox.delete" && gone) return {} as GatewayMethods[M]["result"];
      throw problem;
    }
  }
}
