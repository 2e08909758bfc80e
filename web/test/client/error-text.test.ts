import { expect, test } from "vitest";
import { errorDetail, errorText } from "../../src/client/error-text";
import { HawseError } from "../../src/wire/errors";

test.each([
  ["Expected `str` of length >= 1 - at `$.id`", "Id is missing."],
  [
    "Expected `str` of length <= 63 - at `$.labels[0].display_name`",
    "Display name must have at most 63 characters.",
  ],
  ["Expected `array` of length <= 8 - at `$.argv`", "Argv must have at most 8 entries."],
  ["Expected `int` >= 2 - at `$.cols`", "Cols must be at least 2."],
  ["Expected `str` matching regex '^[a-z`]+$' - at `$.id`", "Id contains characters that are not allowed."],
  ["Expected letters and digits - at `$.id`", "Id must consist of letters and digits."],
  ["Expected `int`, got `str` - at `$.rows[...]`", "Rows is not valid."],
  ["Invalid enum value 'x' - at `$.network`", "Network is not valid."],
  ["Object missing required field `id`", "The gateway did not accept this page's request. Reload the page."],
  [
    "since (9000) is beyond the end of the output (8192)",
    "since (9000) is beyond the end of the output (8192)",
  ],
])("of the parameter error %s a person reads %s", (message, text) => {
  const error = new HawseError("invalid_params", message);
  expect(errorText(error)).toBe(text);
  expect(errorText(error)).not.toContain("`");
});

test("a fault of the page is a sentence, and the messages of other errors are kept", () => {
  expect(errorText(new HawseError("unknown_method", "no such method: x.y"))).toContain("Reload the page");
  expect(errorText(new HawseError("no_space", "the disk is full"))).toBe("the disk is full");
  expect(errorText(new HawseError("no_space", ""))).toBe("The gateway reports no_space.");
});

test("the detail for reports has the message only if it says more", () => {
  expect(errorDetail(new HawseError("internal", "boom"), "The server failed.")).toBe("internal: boom");
  expect(errorDetail(new HawseError("internal", "boom"), "boom")).toBe("internal");
  const parameter = new HawseError("invalid_params", "Expected `str` of length >= 1 - at `$.id`");
  expect(errorDetail(parameter, "Id is missing.")).toBe("invalid_params");
});

test("the time to find a parameter's name grows with the length of the message", () => {
  const path = `$.a${"[]".repeat(2_000)}`;
  const of = (end: string) => errorText(new HawseError("invalid_params", `Expected x - at \`${path}${end}`));
  expect(of("`")).toBe("A must consist of x.");
  expect(of("!`")).not.toContain("`");
});
