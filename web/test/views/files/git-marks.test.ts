import { expect, test } from "vitest";
import { marksOf } from "../../../src/views/files/git-marks";

const entry = (path: string, index: string, worktree: string) => ({ path, index, worktree });

test("each letter of git is a mark, and the directories above a changed file are marked", () => {
  const marks = marksOf("", [
    entry("src/lib/a.py", ".", "M"),
    entry("new.txt", "?", "?"),
    entry("staged.txt", "A", "."),
    entry("both.txt", "U", "U"),
    entry("gone.txt", ".", "D"),
    entry("build/", "!", "!"),
  ]);
  expect(Object.fromEntries(marks)).toEqual({
    "src/lib/a.py": "changed",
    "src/lib": "changed",
    src: "changed",
    "new.txt": "new",
    "staged.txt": "added",
    "both.txt": "conflict",
    "gone.txt": "deleted",
    build: "ignored",
  });
});

test("paths are relative to the repository, which may be below the workspace", () => {
  const marks = marksOf("site", [entry("css/a.css", ".", "M")]);
  expect([...marks.keys()]).toEqual(["site/css/a.css", "site/css"]);
});
