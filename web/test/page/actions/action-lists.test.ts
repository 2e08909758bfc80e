import { expect, test, vi } from "vitest";
import { type PageCommands, pageActions } from "../../../src/page/actions/page-actions";

vi.mock("../../../src/page/style/action-lists.css", () => ({}));
vi.mock("../../../src/page/style/sheet.css", () => ({}));
const { ACTION_ICONS } = await import("../../../src/page/actions/action-lists");

test("each icon belongs to an action, and each action of the menu has one", () => {
  const commands = new Proxy({}, { get: () => () => {} }) as PageCommands;
  const actions = pageActions(commands);
  const ids = new Set(actions.map(({ id }) => id));
  expect(Object.keys(ACTION_ICONS).filter(id => !ids.has(id))).toEqual([]);
  expect(actions.filter(({ id, menu }) => menu && !ACTION_ICONS[id])).toEqual([]);
});
