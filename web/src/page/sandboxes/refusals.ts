// Requests refused by the proxy of a filtered network: the latest refusals, without duplicates, and their descriptions.

import type { EgressRequest } from "../../wire/methods";

/** Maximum number of refusals to keep. */
export const SHOWN = 50;

const REASONS: Record<NonNullable<EgressRequest["reason"]>, string> = {
  rule: "no rule allows it",
  method: "not with this method",
  address: "a private address",
  name: "no such name",
  mismatch: "names a different host than the connection",
  protocol: "a protocol that the proxy does not speak",
  upgrade: "not a valid WebSocket",
  encoding: "a compressed response to a request with a secret",
};

export class Refusals {
  /** Newest first. */
  readonly list: EgressRequest[] = [];
  /** Number of refusals that weren't sent to this page because it was too slow. */
  lost = 0;
  #latest = 0;
  /** Refusals up to this time are already in the list, so they aren't added again. */
  #known = 0;

  /** Called when a watch starts. The watch first repeats the latest refusals. */
  begin(): void {
    this.#known = this.#latest;
  }

  /** Called once the watch has sent the refusals that preceded it. */
  live(): void {
    this.#known = 0;
  }

  add(request: EgressRequest): void {
    if (request.allowed || request.time <= this.#known) return;
    this.#latest = Math.max(this.#latest, request.time);
    this.list.unshift(request);
    if (this.list.length > SHOWN) this.list.pop();
  }
}

/** Returns the request that was refused: `GET example.org:443`. */
export function describeRequest({ method, host, port }: EgressRequest): string {
  return `${method || "Request"} ${host || "to an unknown host"}${port ? `:${port}` : ""}`;
}

export function describeReason({ reason }: EgressRequest): string {
  return reason ? (REASONS[reason] ?? reason) : "";
}
