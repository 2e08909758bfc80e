import { afterEach, expect, test, vi } from "vitest";
import { byId, setText, within } from "../../src/base/dom";

afterEach(() => void vi.unstubAllGlobals());

test("a missing element is an error that names it", () => {
  vi.stubGlobal("document", { getElementById: () => null });
  expect(() => byId("token")).toThrow("#token");
  const element = { id: "banner", querySelector: () => null };
  expect(() => within(element as never, "[data-text]")).toThrow("[data-text] is missing in #banner");
});

test("a text that is unchanged is not written, so that it is not announced again", () => {
  let writes = 0;
  const element = {
    get textContent() {
      return "same";
    },
    set textContent(_: string) {
      writes++;
    },
  };
  setText(element as never, "same");
  setText(element as never, "other");
  expect(writes).toBe(1);
});
