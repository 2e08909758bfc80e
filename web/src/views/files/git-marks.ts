// Marks files that differ from the last commit, and the directories that contain them.

import type { SandboxHandle } from "../../client/sandbox";
import { HawseError } from "../../wire/errors";
import type { GitStatusEntry } from "../../wire/methods";
import { parentOf } from "./tree";

/** A directory is marked `changed` if any file in it differs from the last commit. */
export type Mark = "added" | "changed" | "conflict" | "deleted" | "ignored" | "new" | "renamed";

const BY_LETTER: Record<string, Mark> = {
  "?": "new",
  "!": "ignored",
  A: "added",
  C: "added",
  D: "deleted",
  M: "changed",
  R: "renamed",
  T: "changed",
  U: "conflict",
};

/** The letter displayed for each mark, and its meaning. */
export const LETTERS: Record<Mark, readonly [string, string]> = {
  added: ["A", "added"],
  changed: ["M", "changed"],
  conflict: ["!", "in conflict"],
  deleted: ["D", "deleted"],
  ignored: ["", "ignored"],
  new: ["U", "not in git"],
  renamed: ["R", "renamed"],
};

/** Returns the mark for each path. `top` is the repository's directory, relative to the workspace. */
export function marksOf(top: string, entries: readonly GitStatusEntry[]): ReadonlyMap<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const { path, index, worktree } of entries) {
    const mark =
      index === "U" || worktree === "U" ? "conflict" : BY_LETTER[worktree === "." ? index : worktree];
    if (!mark) continue;
    const full = (top ? `${top}/${path}` : path).replace(/\/$/, "");
    marks.set(full, mark);
    if (mark === "ignored") continue;
    for (let at = full.lastIndexOf("/"); at > top.length; at = full.lastIndexOf("/", at - 1)) {
      const parent = full.slice(0, at);
      if (!marks.has(parent)) marks.set(parent, "changed");
    }
  }
  return marks;
}

/**
 * Returns a file's text as of the last commit; undefined if the commit doesn't contain the file. Throws HawseError,
 * including when outside a repository.
 */
export async function textAtHead(
  box: Pick<SandboxHandle, "exec">,
  path: string,
  max: number,
): Promise<string | undefined> {
  const name = path.split("/").at(-1) ?? "";
  const git = ["git", "-C", parentOf(path) || "."];
  const done = await box.exec([...git, "show", `HEAD:./${name}`], { max_output: max });
  if (done.code === 0) return done.text;
  const inside = (await box.exec([...git, "rev-parse", "--git-dir"])).code === 0;
  if (!inside) throw new HawseError("not_found", "This file is not in a Git repository.");
  return undefined;
}
