// Errors as sentences for people. The gateway's messages are written for people, except those that describe an error in
// the page itself, such as a parameter of the wrong type.

import type { HawseError } from "../wire/errors";

const OTHER_PROTOCOL = "The gateway and this page use different protocol versions. Reload the page.";
/** Sentences that replace the gateway's message, keyed by error code. */
const SENTENCES: Record<string, string> = {
  protocol_error: OTHER_PROTOCOL,
  invalid_message: OTHER_PROTOCOL,
  unknown_method: OTHER_PROTOCOL,
  credit_exceeded: "The gateway sent more data than this page allowed. This is a bug.",
};
/** A message about a parameter, as msgspec writes it: "Expected `str` of length >= 1 - at `$.id`". */
const OF_PARAMETER = /^(Expected |Invalid |Object (missing|contains) ).*`/s;
const PATH = /`\$(?:[^`]*[^\w`])?(\w+)(?:\[[^\]`]*\])*`$/;
const UNITS: Record<string, string> = { str: "characters", array: "entries" };
const LIMIT = /^Expected `(\w+)` (?:of length )?([<>]=?) (\d+)/;

/** Returns a sentence about the error. */
export function errorText(error: HawseError): string {
  const { code, message } = error;
  const sentence = SENTENCES[code];
  if (sentence) return sentence;
  if (isAboutParameter(error)) return parameterText(message);
  return message || `The gateway reports ${code}.`;
}

/** Returns the error's code for reports, with the message if it isn't already in `text`. */
export function errorDetail(error: HawseError, text: string): string {
  const { code, message } = error;
  const known = message === text || !message || SENTENCES[code] || isAboutParameter(error);
  return known ? code : `${code}: ${message}`;
}

function isAboutParameter({ code, message }: HawseError): boolean {
  return code === "invalid_params" && OF_PARAMETER.test(message);
}

function parameterText(message: string): string {
  const field = PATH.exec(message)?.[1]?.replaceAll("_", " ");
  if (!field) return "The gateway did not accept this page's request. Reload the page.";
  const name = field[0]?.toUpperCase() + field.slice(1);
  const [, type, sign = "", number = ""] = LIMIT.exec(message) ?? [];
  if (type === "str" && sign === ">=" && number === "1") return `${name} is missing.`;
  if (number) {
    const limit = sign.startsWith("<") ? "at most" : "at least";
    const unit = UNITS[type ?? ""];
    return unit ? `${name} must have ${limit} ${number} ${unit}.` : `${name} must be ${limit} ${number}.`;
  }
  const words = /^Expected ([^`]+) - at `/.exec(message)?.[1];
  if (words) return `${name} must consist of ${words}.`;
  if (/matching regex/.test(message)) return `${name} contains characters that are not allowed.`;
  return `${name} is not valid.`;
}
