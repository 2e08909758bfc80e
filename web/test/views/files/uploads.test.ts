import { expect, test } from "vitest";
import type { WriteOptions } from "../../../src/client/sandbox";
import { type Answer, numbered, Uploads } from "../../../src/views/files/uploads";
import { HawseError } from "../../../src/wire/errors";

/** A directory in memory: path → text. */
function makeDisk(files: Record<string, string>, answers: [Answer, boolean][] = []) {
  const disk = new Map(Object.entries(files));
  const asked: string[] = [];
  const write = async (path: string, data: Blob, options: WriteOptions) => {
    const version = disk.has(path) ? `v of ${disk.get(path)}` : "";
    if (options.if_version !== version) throw new HawseError("conflict", "other", { details: { version } });
    options.progress?.(data.size);
    disk.set(path, await data.text());
  };
  const uploads = new Uploads(write);
  uploads.conflict.subscribe(conflict => {
    if (!conflict) return;
    asked.push(conflict.path);
    const [answer, all] = answers.shift() ?? ["skip", false];
    queueMicrotask(() => conflict.answer(answer, all));
  });
  return { disk, uploads, asked };
}

const file = (path: string, text: string) => ({ path, content: new Blob([text]) });

test("files are put into the directory, one after another", async () => {
  const { disk, uploads, asked } = makeDisk({});
  const first = uploads.upload("site", [file("a", "1"), file("css/b", "2")]);
  const second = uploads.upload("", [file("c", "3")]);
  expect([await first, await second]).toEqual([2, 1]);
  expect(Object.fromEntries(disk)).toEqual({ "site/a": "1", "site/css/b": "2", c: "3" });
  expect([asked, uploads.progress.value]).toEqual([[], undefined]);
});

test.each<[Answer, Record<string, string>, number]>([
  ["replace", { "a.txt": "new" }, 1],
  ["skip", { "a.txt": "old" }, 0],
  ["both", { "a.txt": "old", "a (2).txt": "new" }, 1],
])("a file that exists is a question: %s", async (answer, expected, placed) => {
  const { disk, uploads, asked } = makeDisk({ "a.txt": "old" }, [[answer, false]]);
  expect(await uploads.upload("", [file("a.txt", "new")])).toBe(placed);
  expect([Object.fromEntries(disk), asked]).toEqual([expected, ["a.txt"]]);
});

test("an answer for all is asked once", async () => {
  const { disk, uploads, asked } = makeDisk({ a: "old", b: "old" }, [["replace", true]]);
  await uploads.upload("", [file("a", "new"), file("b", "new")]);
  expect([Object.fromEntries(disk), asked]).toEqual([{ a: "new", b: "new" }, ["a"]]);
});

test("another error ends the upload, and the next one continues", async () => {
  const uploads = new Uploads(async path => {
    if (path === "full/a") throw new HawseError("no_space", "the disk is full");
  });
  const full = uploads.upload("full", [file("a", "1")]);
  const fine = uploads.upload("fine", [file("a", "1")]);
  await expect(full).rejects.toMatchObject({ code: "no_space" });
  expect(await fine).toBe(1);
});

test.each([
  ["a/b.tar.gz", "a/b (2).tar.gz"],
  [".env", ".env (2)"],
  ["README", "README (2)"],
])("a second %s is %s", (path, expected) => {
  expect(numbered(path, 2)).toBe(expected);
});
