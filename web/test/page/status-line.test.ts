import { expect, test } from "vitest";
import { isolationText } from "../../src/page/status-line";

test("a sandbox without isolation is named in words", () => {
  expect(isolationText("none")).toBe("not isolated");
  expect(isolationText("bubblewrap")).toBe("bubblewrap");
});
