import { afterEach, expect, test, vi } from "vitest";
import { groupPeople, PeopleList } from "../../../src/views/people/people-list";
import { HawseError } from "../../../src/wire/errors";
import type { Participant, TerminalViewersResult } from "../../../src/wire/methods";

const person = (id: string): Participant => ({
  id,
  name: id,
  color: "#ffffff",
  kind: "person",
  read_only: false,
  typing: false,
  focus: true,
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("viewers are grouped by terminal, and viewers beyond the limit are counted", () => {
  const found = ["b", "a", "b"].map((terminal, index) => ({ terminal, viewer: person(`v${index}`) }));
  const { terminals, more } = groupPeople(found, 5);
  expect(terminals.map(({ terminal, viewers }) => [terminal, viewers.map(({ id }) => id)])).toEqual([
    ["a", ["v1"]],
    ["b", ["v0", "v2"]],
  ]);
  expect(more).toBe(2);
});

test("the list is asked for again after an error, and not after it was disposed", async () => {
  vi.useFakeTimers();
  vi.stubGlobal("document", { hidden: false });
  let asked = 0;
  const viewers = async (): Promise<TerminalViewersResult> => {
    asked += 1;
    if (asked === 1) throw new HawseError("forbidden", "no");
    return { viewers: [{ terminal: "main", viewer: person("v1") }], total: 1 };
  };
  const list = new PeopleList({ terminal: { viewers } } as never);
  await vi.advanceTimersByTimeAsync(0);
  expect(list.error.value).toBe("You are not allowed to see the people in this sandbox.");
  await vi.advanceTimersByTimeAsync(2000);
  expect([list.error.value, list.people.value?.terminals.length]).toEqual(["", 1]);
  list.dispose();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toBe(2);
});
