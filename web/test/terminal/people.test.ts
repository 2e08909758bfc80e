import { expect, test } from "vitest";
import { People } from "../../src/terminal/people";
import type { Participant, TerminalOpened } from "../../src/wire/methods";

function viewer(id: string, more: Partial<Participant> = {}): Participant {
  const rest = {
    color: "#5ad1c8",
    kind: "person",
    read_only: false,
    typing: false,
    focus: false,
    at: null,
  } as const;
  return { id, name: id, ...rest, ...more };
}

function opened(more: Partial<TerminalOpened> = {}): TerminalOpened {
  const lease = { mode: "free", holder: null, epoch: 0 } as const;
  return {
    viewer: "v1",
    presence: [viewer("v1"), viewer("v2")],
    lease,
    read_only: false,
    ...more,
  } as TerminalOpened;
}

test("viewers that join, change and leave are tracked, and each change fires onChange", () => {
  const people = new People();
  let changes = 0;
  people.onChange(() => changes++);
  people.opened(opened());
  expect([people.me?.id, people.others.map(({ id }) => id)]).toEqual(["v1", ["v2"]]);
  people.event("joined", { viewer: viewer("v3") });
  people.event("presence", { viewer: viewer("v2", { typing: true }) });
  expect(people.others.map(({ id, typing }) => [id, typing])).toEqual([
    ["v2", true],
    ["v3", false],
  ]);
  people.event("left", { id: "v2" });
  people.event("exit", { code: 0 });
  expect(people.others.map(({ id }) => id)).toEqual(["v3"]);
  expect(changes).toBe(4);
});

test("mayType follows the lease", () => {
  const people = new People();
  people.opened(opened());
  expect(people.mayType).toBe(true);
  people.event("lease", { mode: "exclusive", holder: "v2", epoch: 1, applied: 0 });
  expect([people.mayType, people.holder?.id]).toEqual([false, "v2"]);
  people.event("lease", { mode: "exclusive", holder: "v1", epoch: 2, applied: 0 });
  expect(people.mayType).toBe(true);
  people.opened(opened({ read_only: true }));
  expect([people.mayType, people.readOnly]).toEqual([false, true]);
});

test("with an older server all may type and the list is empty", () => {
  const people = new People();
  people.opened({} as TerminalOpened);
  expect([people.mayType, people.readOnly, people.me, people.others]).toEqual([true, false, undefined, []]);
});
