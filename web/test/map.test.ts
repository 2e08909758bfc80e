// Checks that each module of src/ has a test: `src/a/x.ts` is tested by `test/a/x.test.ts`, or it is listed here.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const WEB = fileURLToPath(new URL("..", import.meta.url));

/** Modules that contain only types or re-exports. The compiler checks them. */
const TYPES_ONLY = new Set(["index.ts", "terminal/sink.ts", "wire/methods.ts", "wire/protocol.ts"]);

/** Modules that only draw or connect elements of the page → the browser test that covers each. */
const DRAWING: Record<string, string> = {
  "page/emulator.ts": "test_programs.py::test_wide_characters_and_emoji_have_the_right_width",
  "page/header.ts": "test_people.py::test_the_view_only_link_gives_access_without_a_token",
  "page/layout.ts":
    "test_people.py::test_the_size_follows_the_viewer_in_use_and_the_other_page_is_letterboxed",
  "page/main.ts": "test_viewers.py::test_the_end_of_a_shell_shows_its_exit_code_and_offers_a_new_one",
  "page/overlays.ts": "test_viewers.py::test_the_end_of_a_shell_shows_its_exit_code_and_offers_a_new_one",
  "page/recordings.ts": "test_recording.py::test_a_terminal_is_recorded_and_played_in_the_page",
  "page/sandbox-form.ts": "test_sandboxes.py::test_a_sandbox_is_created_and_opened",
  "page/sandbox-row.ts": "test_sandboxes.py::test_a_sandbox_is_stopped_started_and_deleted",
  "page/sandboxes.ts": "test_sandboxes.py::test_the_list_follows_the_changes_of_others",
  "page/search-bar.ts": "test_viewers.py::test_search_finds_text_in_the_scrollback",
  "page/terminal-tabs.ts": "test_tabs.py::test_terminals_are_opened_switched_and_closed_in_tabs",
  "page/viewport.ts": "test_viewers.py::test_touch_scrolls_the_scrollback_and_a_pager",
  "playback/controls.ts": "test_recording.py::test_a_terminal_is_recorded_and_played_in_the_page",
  "playback/main.ts": "test_recording.py::test_a_terminal_is_recorded_and_played_in_the_page",
};

/** Tests of several modules together, or of the source tree. */
const CROSS_MODULE = new Set([
  "arrows.test.ts",
  "dev-server.test.ts",
  "map.test.ts",
  "readme.test.ts",
  "terminal/exact-resume.test.ts",
  "wire/vectors.test.ts",
]);

function filesBelow(folder: string, suffix: string): string[] {
  const found = readdirSync(join(WEB, folder), { recursive: true, encoding: "utf8" });
  return found.filter(path => path.endsWith(suffix)).sort();
}

const MODULES = filesBelow("src", ".ts");

function testFileOf(module: string): string {
  return module.replace(/\.ts$/, ".test.ts");
}

function hasTestFile(module: string): boolean {
  return existsSync(join(WEB, "test", testFileOf(module)));
}

test("each module has a test file or is on a list", () => {
  const untested = MODULES.filter(module => !hasTestFile(module));
  expect(untested).toEqual([...TYPES_ONLY, ...Object.keys(DRAWING)].sort());
});

test("each test file has its module", () => {
  const expected = new Set([...MODULES.map(testFileOf), ...CROSS_MODULE]);
  expect(filesBelow("test", ".test.ts").filter(file => !expected.has(file))).toEqual([]);
});

test.each(Object.entries(DRAWING))("the browser test of %s exists: %s", (_, id) => {
  const [file, name] = id.split("::") as [string, string];
  expect(readFileSync(join(WEB, "../e2e", file), "utf8")).toContain(`async def ${name}(`);
});

test.each([...TYPES_ONLY])("%s has no code of its own", module => {
  const text = readFileSync(join(WEB, "src", module), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  expect(text).not.toMatch(/^(export )?(class|const|let|function|async function)\b/m);
});
