import { signal } from "@preact/signals";
import { expect, test } from "vitest";
import { facesOf, placeOf, SandboxViewers } from "../../../src/page/people/sandbox-viewers";
import type { Participant } from "../../../src/wire/methods";

const viewer = (id: string, name: string, kind: "agent" | "person" = "person"): Participant => ({
  id,
  name,
  color: "#5ad1c8",
  kind,
  read_only: false,
  typing: false,
  focus: false,
});

const TERMINALS = [
  { terminal: "main", viewers: [viewer("v1", "Ada"), viewer("v2", "claude", "agent")] },
  { terminal: "other", viewers: [viewer("v1", "Bob"), viewer("v2", "Ada")] },
];

test("a user at several terminals is shown once, with the place where it is", () => {
  const faces = facesOf(TERMINALS);
  expect(faces.map(({ name }) => name)).toEqual(["Ada", "claude", "Bob"]);
  expect(faces.map(placeOf)).toEqual([
    { terminal: "main", viewer: TERMINALS[0]?.viewers[0] },
    { terminal: "main", viewer: TERMINALS[0]?.viewers[1] },
    { terminal: "other", viewer: TERMINALS[1]?.viewers[0] },
  ]);
  expect(placeOf(viewer("v1", "Ada"))).toBeUndefined();
});

test("the viewers are asked for only while they are wanted", async () => {
  const wanted = signal(false);
  let asked = 0;
  const viewers = async () => {
    asked++;
    return { viewers: [{ terminal: "main", viewer: viewer("v1", "Ada") }], total: 1 };
  };
  Object.assign(globalThis, { document: { hidden: false } });
  const sandboxViewers = new SandboxViewers({ terminal: { viewers } } as never, wanted);
  expect([asked, sandboxViewers.people.value]).toEqual([0, undefined]);
  wanted.value = true;
  await Promise.resolve();
  await Promise.resolve();
  expect([asked, sandboxViewers.people.value?.people.others.map(({ name }) => name)]).toEqual([1, ["Ada"]]);
  wanted.value = false;
  expect(sandboxViewers.people.value).toBeUndefined();
  sandboxViewers.dispose();
  Reflect.deleteProperty(globalThis, "document");
});
