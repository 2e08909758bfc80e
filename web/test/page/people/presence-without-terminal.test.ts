import { signal } from "@preact/signals";
import { expect, test, vi } from "vitest";
import type { ChannelHandlers } from "../../../src/client/channels";
import { PresenceWithoutTerminal, withMe } from "../../../src/page/people/presence-without-terminal";
import { interrupted } from "../../../src/wire/errors";
import type { Participant } from "../../../src/wire/methods";

const viewer = (id: string, name: string): Participant => ({
  id,
  name,
  color: "#5ad1c8",
  kind: "person",
  read_only: false,
  typing: false,
  focus: false,
});

function make() {
  const opened: { params: unknown; handlers: ChannelHandlers; cancelled: boolean; consumed: number }[] = [];
  const calls: unknown[] = [];
  let up = () => {};
  const client = {
    onUp: (listener: () => void) => {
      up = listener;
      return { dispose: () => {} };
    },
    call: async (...request: unknown[]) => {
      calls.push(request);
    },
    open: (_: string, { params }: { params: unknown }, handlers: ChannelHandlers) => {
      const entry = { params, handlers, cancelled: false, consumed: 0 };
      opened.push(entry);
      return {
        cancel: () => {
          entry.cancelled = true;
        },
        consume: (bytes: number) => {
          entry.consumed += bytes;
        },
      };
    },
  };
  const terminal = signal<string | undefined>(undefined);
  const view = signal("editor~path~a.py");
  const options = { client, sandbox: "b", viewerKey: "k", name: () => "Ada", terminal, view };
  const present = new PresenceWithoutTerminal(options as never);
  const latest = () => {
    const entry = opened.at(-1);
    if (!entry) throw new Error("nothing was opened");
    return entry;
  };
  const answer = () =>
    latest().handlers.event?.(
      "opened",
      { viewer: "v1", presence: [viewer("v1", "Ada"), viewer("v2", "Bob")] },
      10,
    );
  return { present, opened, calls, terminal, view, latest, answer, up: () => up() };
}

test("a page without a terminal attaches to one, without a size, and reports its user's view", () => {
  const { present, opened, calls, terminal, view, latest, answer } = make();
  expect(opened).toEqual([]);
  terminal.value = "main";
  expect(latest().params).toEqual({
    id: "main",
    viewer: { key: "k", kind: "person", focus: false, name: "Ada" },
  });
  answer();
  expect(present.me.value).toMatchObject({ terminal: "main", viewer: { id: "v1", name: "Ada" } });
  latest().handlers.event?.("presence", { viewer: { ...viewer("v1", "Ada"), typing: true } }, 0);
  expect(present.me.value?.viewer.typing).toBe(true);
  view.value = "editor~path~b.py";
  present.rename("Ada L.");
  const presence = (change: object) => [
    "terminal.presence",
    { id: "main", viewer: "k", ...change },
    { sandbox: "b" },
  ];
  expect(calls).toEqual([
    presence({ view: "editor~path~a.py" }),
    presence({ view: "editor~path~b.py" }),
    presence({ name: "Ada L." }),
  ]);
  latest().handlers.data?.({} as never, 5);
  expect(latest().consumed).toBe(15);
  terminal.value = undefined;
  expect([latest().cancelled, present.me.value]).toEqual([true, undefined]);
  present.dispose();
});

test("it attaches again on a new connection, and some time after the terminal has ended", () => {
  vi.useFakeTimers();
  const { present, opened, terminal, latest, answer, up } = make();
  terminal.value = "main";
  answer();
  latest().handlers.error(interrupted("terminal.attach"));
  expect(present.me.value).toBeUndefined();
  up();
  expect(opened).toHaveLength(2);
  answer();
  latest().handlers.result({});
  vi.advanceTimersByTime(10_000);
  expect(opened).toHaveLength(3);
  present.dispose();
  expect(latest().cancelled).toBe(true);
  vi.useRealTimers();
});

test("the own viewer is not among the others, at whichever terminal", () => {
  const lease = { mode: "free", holder: null, epoch: 0 } as const;
  const others = [viewer("main\nv1", "Ada"), viewer("other\nv2", "Bob")];
  const faces = { people: { me: undefined, others, lease, readOnly: false } };
  const me = { terminal: "main", viewer: viewer("v1", "Ada") };
  expect(withMe(faces, me)?.people).toMatchObject({ me: { id: "v1" }, others: [{ name: "Bob" }] });
  expect(withMe(faces, undefined)).toBe(faces);
});
