import { expect, test } from "vitest";
import { changeText, type Keyboard, missedText } from "../../../src/page/people/keyboard";

const free: Keyboard = { holder: undefined, asks: false, unanswered: false, asking: new Map() };
const held: Keyboard = { ...free, holder: "v1" };
const asked: Keyboard = { ...held, asks: true };
const late: Keyboard = { ...held, unanswered: true };
const other: Keyboard = { ...free, holder: "v3" };
const mine: Keyboard = { ...free, holder: "v2" };

test.each([
  ["Ada gives it", asked, mine, "You have the keyboard. Only you may type."],
  ["Ada gives it to Cleo", asked, other, "Cleo has the keyboard now."],
  ["Ada lets all type", asked, free, "Everyone can type now."],
  ["Ada keeps it", asked, held, "Ada keeps the keyboard."],
  ["Ada does not answer", asked, late, "Ada has not answered. Ask again, or take the keyboard over."],
  ["Ada takes it over", mine, held, "Ada has the keyboard now."],
  ["the user takes it", held, mine, ""],
  ["the user asks", held, asked, ""],
  ["nothing changes", asked, asked, ""],
  ["the user did not ask", held, other, ""],
])("%s", (_, before, now, text) => {
  const names: Record<string, string> = { v1: "Ada", v3: "Cleo" };
  expect(changeText(before, now, "v2", id => names[id] ?? "")).toBe(text);
});

test("the holder sees a message for a request that ended without an answer, and for no other", () => {
  const viewer = (id: string, name: string, unanswered: boolean) => ({ id, name, asks: false, unanswered });
  const before = { ...mine, asking: new Map([["v1", "Ada"]]) };
  const others = [viewer("v1", "Ada", true), viewer("v3", "Cleo", true)];
  expect(missedText(before, others as never)).toBe(
    "Ada asked for the keyboard but got no answer. The request has expired.",
  );
  expect(missedText(before, [viewer("v1", "Ada", false)] as never)).toBe("");
  expect(missedText(mine, others as never)).toBe("");
});
