import { afterEach, expect, test, vi } from "vitest";
import { exposeTestHandle } from "../../src/page/test-handle";

afterEach(() => void vi.unstubAllGlobals());

test("window.hawse has the documented fields", () => {
  vi.stubGlobal("window", {});
  const people = { me: { name: "Ada" }, others: [{ name: "Bob" }] };
  const channel = {
    state: { phase: "live" },
    offset: 5,
    input: { applied: 1, end: 2 },
    info: undefined,
    people,
  };
  const client = { state: { phase: "live" }, roundTrip: 3 };
  exposeTestHandle({ cols: 80, rows: 24 } as never, client as never, channel as never);
  expect(window.hawse?.state()).toEqual({
    connection: "live",
    terminal: "live",
    rtt: 3,
    offset: 5,
    inputOffset: 1,
    inputEnd: 2,
    instance: undefined,
    pid: undefined,
    cols: 80,
    rows: 24,
    people: ["Ada", "Bob"],
  });
});
