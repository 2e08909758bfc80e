import { expect, test, vi } from "vitest";
import type { ShareInfo } from "../../../src/wire/methods";

vi.mock("../../../src/page/style/share.css", () => ({}));
vi.mock("../../../src/page/style/sheet.css", () => ({}));
const { describeLink, paramsOf } = await import("../../../src/page/people/share-dialog");

const here = { sandbox: "box", terminal: "main" };
const form = (values: Record<string, string>) => ({ get: (name: string) => values[name] ?? null });
const link: ShareInfo = { id: "l1", name: "", sandbox: "box", role: "viewer", created: 0 };

test("a link grants the chosen rights, and by default the right to view the terminal", () => {
  expect(paramsOf(form({ role: "writer", what: "sandbox", until: "0" }), here)).toEqual({
    sandbox: "box",
    terminal: null,
    role: "writer",
    expires_in: 3600,
  });
  expect(paramsOf(form({ what: "terminal", until: "3" }), here)).toEqual({ ...here, role: "viewer" });
});

test("a link is described by its rights, their object, its lifetime and its use", () => {
  expect(describeLink(link, 0)).toBe("Look · sandbox box · until stopped · not in use");
  const used = { ...link, role: "writer" as const, terminal: "main", expires: 7200 };
  const users = [{ address: "a", since: 0 }];
  expect(describeLink({ ...used, users }, 0)).toBe("Type · terminal main · for 2 hours · 1 connected");
  expect(describeLink({ ...used, expires: 5 * 86400 }, 0)).toContain("for 5 days");
  expect(describeLink({ ...used, expires: 30 }, 0)).toContain("for 1 minute");
});
