import { expect, test } from "vitest";
import { isNameless } from "../../../src/page/people/guest-name";

test.each([
  [{ guest: true, name: "guest-12" }, true],
  [{ guest: true, name: "Ada" }, false],
  [{ guest: true, name: "guest-of-Ada" }, false],
  [{ guest: false, name: "guest-1" }, false],
  [undefined, false],
])("whether %j is asked for a name: %s", (me, asked) => expect(isNameless(me)).toBe(asked));
