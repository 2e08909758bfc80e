// Parses and validates control messages (docs/wire.md section 2). Unknown fields are ignored; unknown types and invalid
// fields are ProtocolViolations.

import { ProtocolViolation } from "./errors";
import { MAX_CHANNEL } from "./frames";
import type { ClientMessage, Limits, ServerMessage } from "./protocol";

type Json = Record<string, unknown>;
type Check = (value: unknown) => boolean;

const isNumber: Check = value => typeof value === "number" && Number.isFinite(value);
const isString: Check = value => typeof value === "string";
const isChannel: Check = value =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_CHANNEL;
const isObject: Check = value => typeof value === "object" && value !== null && !Array.isArray(value);
const optional =
  (check: Check): Check =>
  value =>
    value === undefined || value === null || check(value);

/** Maximum number of bytes granted by a `credit` message. */
const MAX_GRANT = 4_194_304;

/** The check for each field, keyed by message type. `value` can be any JSON value, but must be present. */
const FIELDS: Record<ServerMessage["type"], Record<string, Check>> = {
  welcome: {
    protocol: isNumber,
    server: isString,
    identity: isString,
    role: isString,
    limits: isObject,
    abilities: value => Array.isArray(value) && value.every(isString),
  },
  event: { ch: isChannel, name: isString, value: value => value !== undefined, seq: optional(isNumber) },
  result: { ch: isChannel, value: value => value !== undefined },
  error: {
    ch: optional(isChannel),
    code: isString,
    message: isString,
    retryable: value => typeof value === "boolean",
    admitted: value => value === "yes" || value === "no" || value === "unknown",
    details: optional(isObject),
    request: optional(isString),
  },
  credit: {
    ch: isChannel,
    bytes: value => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_GRANT,
  },
  ping: { t: isNumber },
  pong: { t: isNumber },
  goaway: { reason: isString, retry_after: value => isNumber(value) && Number(value) >= 0 },
};

/** The defaults from docs/wire.md section 7, for limits that the server doesn't send. */
export const DEFAULT_LIMITS: Readonly<Limits> = {
  text: 1_048_576,
  payload: 65_536,
  channels: 1_024,
  window_max: 4_194_304,
  input_window: 262_144,
  backlog: 8_388_608,
  hello_timeout: 10,
};

export function parseServerMessage(text: string): ServerMessage {
  const message = parseObject(text);
  const type = message.type;
  if (typeof type !== "string") throw invalid("a message without a string `type`");
  const fields = Object.hasOwn(FIELDS, type) ? FIELDS[type as ServerMessage["type"]] : undefined;
  if (!fields) throw invalid(`a message of unknown type: ${type}`);
  for (const [field, check] of Object.entries(fields)) {
    if (!check(message[field])) throw invalid(`an invalid ${type}.${field}`);
  }
  if (type === "welcome" && message.protocol !== 1) {
    throw new ProtocolViolation(
      "protocol_error",
      `the server speaks protocol ${message.protocol}, this client 1`,
    );
  }
  if (type === "welcome") message.limits = parseLimits(message.limits as Json);
  for (const name of ["ch", "seq", "details", "request"]) if (message[name] === null) delete message[name];
  return message as unknown as ServerMessage;
}

export function encodeMessage(message: ClientMessage): string {
  return JSON.stringify(message);
}

function parseObject(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid("a text message that is not JSON");
  }
  if (!isObject(value)) throw invalid("a text message that is not a JSON object");
  return value as Json;
}

function parseLimits(given: Json): Limits {
  const limits = { ...DEFAULT_LIMITS };
  for (const name of Object.keys(limits) as (keyof Limits)[]) {
    const value = given[name];
    if (value === undefined) continue;
    if (!isNumber(value) || Number(value) < 0)
      throw invalid(`a welcome.limits.${name} that is not a number >= 0`);
    limits[name] = Number(value);
  }
  return limits;
}

function invalid(what: string): ProtocolViolation {
  return new ProtocolViolation("invalid_message", `the server sent ${what}`);
}
