import { expect, test, vi } from "vitest";

vi.mock("../../../src/page/style/jump-pill.css", () => ({}));
const { jumpText } = await import("../../../src/page/terminal/jump-pill");

test("the button says how many lines are new", () => {
  expect([0, 1, 1204].map(jumpText)).toEqual(["Go to the end ↓", "1 new line ↓", "1,204 new lines ↓"]);
});
