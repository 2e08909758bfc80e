import { expect, test } from "vitest";
import type { DraftDatabase, DraftInfo } from "../../src/base/draft-database";
import { Drafts, type DraftsOptions } from "../../src/base/drafts";

const PLACE = { sandbox: "local", kind: "file", name: "a.txt" } as const;
const DAY = 86_400_000;

class MemoryDatabase implements DraftDatabase {
  readonly infos = new Map<string, DraftInfo>();
  readonly texts = new Map<string, string>();
  full = false;

  async list() {
    return [...this.infos.values()];
  }

  async text(key: string) {
    return this.texts.get(key);
  }

  async put(info: DraftInfo, text: string) {
    if (this.full) throw new Error("full");
    this.infos.set(info.key, info);
    this.texts.set(info.key, text);
  }

  async delete(keys: readonly string[]) {
    for (const key of keys) {
      this.infos.delete(key);
      this.texts.delete(key);
    }
  }
}

/** The tabs of one browser: `live` are those that pages use. */
function browser() {
  const database = new MemoryDatabase();
  const live = new Set<string>();
  const open = (tab: string, options: Partial<DraftsOptions> = {}) =>
    new Drafts({
      database,
      identity: "owner",
      tab,
      claim: async wanted => {
        if (live.has(wanted)) return false;
        live.add(wanted);
        return true;
      },
      live: async () => live,
      ...options,
    });
  return { database, live, open };
}

async function write(drafts: Drafts, text: string, place: Parameters<Drafts["slot"]>[0] = PLACE) {
  const slot = drafts.slot(place);
  await slot.read();
  slot.keep(() => text, "v1");
  slot.flush();
  return slot;
}

test("a page that is loaded again finds the text and its version", async () => {
  const { open, live } = browser();
  await write(open("1"), "mine");
  live.clear();
  const found = await open("1").slot(PLACE).read();
  expect(found).toMatchObject({ text: "mine", version: "v1" });
});

test("the draft of a tab that has gone passes to the tab that opens the file next", async () => {
  const { open, live, database } = browser();
  await write(open("1"), "mine");
  live.clear();
  const slot = open("2").slot(PLACE);
  expect(await slot.read()).toMatchObject({ text: "mine" });
  expect([...database.infos.values()].map(({ tab }) => tab)).toEqual(["2"]);
  await slot.forget();
  expect(database.texts.size).toBe(0);
});

test("two tabs with one file have a draft each, which the other one does not take or remove", async () => {
  const { open } = browser();
  const first = await write(open("1"), "of the first");
  const second = open("2").slot(PLACE);
  expect(await second.read()).toBeUndefined();
  second.keep(() => "of the second", "v1");
  second.flush();
  await second.forget();
  expect(await first.read()).toMatchObject({ text: "of the first" });
});

test("a copy of a tab, which has its id, does not overwrite its draft", async () => {
  const { open } = browser();
  const first = await write(open("1"), "of the first");
  await write(open("1", { now: () => 5 }), "of the copy");
  expect(await first.read()).toMatchObject({ text: "of the first" });
});

test("another user of the browser sees no draft, and keeps the own ones when the first signs out", async () => {
  const { open, database } = browser();
  const owner = open("1");
  await write(owner, "secret");
  const guest = open("1", { identity: "guest" });
  expect(await guest.slot(PLACE).read()).toBeUndefined();
  expect(await guest.files("local")).toEqual([]);
  await write(guest, "of the guest");
  expect(await owner.count()).toBe(1);
  await owner.clear();
  expect([...database.texts.values()]).toEqual(["of the guest"]);
});

test("nothing is kept after the user has signed out", async () => {
  const { open, database } = browser();
  const drafts = open("1");
  const slot = await write(drafts, "mine");
  slot.keep(() => "later", "v1");
  await drafts.clear();
  expect(database.texts.size).toBe(0);
});

test("the files with drafts are listed, the latest first, except files of open tabs", async () => {
  const { open, live } = browser();
  let time = 0;
  const now = () => ++time;
  await write(open("1", { now }), "x", { ...PLACE, name: "old.txt" });
  await write(open("2", { now }), "x", { ...PLACE, name: "new.txt" });
  await write(open("3", { now }), "x", { ...PLACE, sandbox: "other" });
  await write(open("4", { now }), "x", { ...PLACE, name: "live.txt" });
  for (const tab of ["1", "2", "3"]) live.delete(tab);
  expect(await open("5").files("local")).toEqual(["new.txt", "old.txt"]);
});

test("old drafts go, by age, number and size", async () => {
  const { open, database, live } = browser();
  let time = 0;
  const drafts = open("1", { now: () => time });
  await write(drafts, "old", { ...PLACE, name: "old" });
  time = 31 * DAY;
  for (let n = 0; n < 65; n++) {
    time++;
    await write(drafts, "x", { ...PLACE, name: `${n}` });
  }
  live.clear();
  await open("1", { now: () => time })
    .slot(PLACE)
    .read();
  const names = [...database.infos.values()].map(({ name }) => name);
  expect(names).toHaveLength(64);
  expect(names).not.toContain("old");
  expect(names).not.toContain("0");
  const large = "x".repeat(8_000_000);
  for (let n = 0; n < 5; n++) {
    time++;
    await write(drafts, large, { ...PLACE, name: `large ${n}` });
  }
  await open("1", { now: () => time })
    .slot(PLACE)
    .read();
  expect([...database.infos.values()].map(({ name }) => name)).toEqual([1, 2, 3, 4].map(n => `large ${n}`));
});

test("a text that could not be kept is known until it is kept or not wanted", async () => {
  const { open, database } = browser();
  const drafts = open("1");
  const slot = await write(drafts, "x".repeat(8_388_609));
  await expect.poll(() => drafts.unkept).toBe(true);
  slot.keep(() => "short", "v1");
  slot.flush();
  await expect.poll(() => drafts.unkept).toBe(false);
  database.full = true;
  slot.keep(() => "more", "v1");
  slot.flush();
  await expect.poll(() => drafts.unkept).toBe(true);
  await slot.forget();
  expect(drafts.unkept).toBe(false);
});

test("the browser asks only if a text could not be stored, after pending texts were stored", async () => {
  const { open, database } = browser();
  const drafts = open("1");
  const page = new EventTarget() as Window & EventTarget;
  drafts.guard(page);
  const slot = await write(drafts, "first");
  const leave = () => page.dispatchEvent(new Event("beforeunload", { cancelable: true }));
  slot.keep(() => "second", "v1");
  expect(leave()).toBe(true);
  expect([...database.texts.values()]).toEqual(["second"]);
  database.full = true;
  slot.keep(() => "third", "v1");
  slot.flush();
  await expect.poll(() => drafts.unkept).toBe(true);
  expect(leave()).toBe(false);
});
