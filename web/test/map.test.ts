// Checks that each module of src/ has a test: `src/a/x.ts` is tested by `test/a/x.test.ts`, or it is listed here.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const WEB = fileURLToPath(new URL("..", import.meta.url));

/** Modules that contain only types or re-exports. The compiler checks them. */
const TYPES_ONLY = new Set([
  "frame/pane.ts",
  "index.ts",
  "page/terminal/terminal-options.ts",
  "terminal/sink.ts",
  "views/desktop/novnc.d.ts",
  "wire/methods.ts",
  "wire/protocol.ts",
  "xterm.ts",
]);

/** Modules that only draw or connect elements of the page → the browser test that covers each. */
const DRAWING: Record<string, string> = {
  "element.ts": "apps/test_npm_package.py::test_the_package_works_in_a_vite_project_of_another_origin",
  "page/actions/action-table.ts": "test_frame.py::test_the_palette_finds_an_action_and_runs_it",
  "page/app-context.ts": "test_frame.py::test_a_split_shows_two_terminals_and_is_restored_after_a_reload",
  "page/page-chrome.ts": "test_frame.py::test_the_status_line_shows_directory_branch_and_ports",
  "page/terminal/emulator.ts": "test_programs.py::test_wide_characters_and_emoji_have_the_right_width",
  "frame/divider-bar.ts": "test_frame.py::test_a_divider_is_dragged_and_moved_with_the_keyboard",
  "frame/menu.ts": "test_frame.py::test_the_menu_is_used_with_the_keyboard_and_returns_the_focus",
  "frame/stage.ts": "test_frame.py::test_a_split_shows_two_terminals_and_is_restored_after_a_reload",
  "page/terminal/fonts.ts": "test_budget.py::test_fonts_that_the_prompt_does_not_need_come_after_it",
  "page/terminal/gpu-renderer.ts": "test_programs.py::test_webgl_that_draws_on_the_cpu_is_not_used",
  "page/terminal/images.ts":
    "test_extras.py::test_images_are_shown_and_their_decoders_loaded_with_the_first_one",
  "page/terminal/cell-layer.ts": "test_extras.py::test_keys_are_shown_while_the_connection_stands_still",
  "page/prediction/predictions.ts": "test_extras.py::test_keys_are_shown_while_the_connection_stands_still",
  "page/terminal/pane-question.ts": "test_extras.py::test_a_program_copies_after_a_question_and_never_reads",
  "page/shell/shell-divider.ts": "test_extras.py::test_a_new_shell_is_divided_from_the_one_above",
  "page/terminal-extras.ts": "test_extras.py::test_the_font_of_symbols_is_loaded_when_the_first_one_is_drawn",
  "base/draft-database.ts": "test_drafts.py::test_unsaved_text_survives_the_death_of_the_browser",
  "page/drafts/page-drafts.ts": "test_drafts.py::test_unsaved_text_survives_the_death_of_the_browser",
  "page/session/sign-out.ts": "test_drafts.py::test_another_user_of_the_browser_does_not_find_the_text",
  "views/files/document-view.tsx": "test_files.py::test_a_markdown_file_is_read_as_a_document",
  "views/files/editor-bars.tsx":
    "test_files.py::test_a_file_is_edited_and_a_change_by_another_program_is_not_overwritten",
  "page/actions/page-actions.ts": "test_frame.py::test_the_palette_finds_an_action_and_runs_it",
  "page/page-dialogs.ts": "test_frame.py::test_the_palette_finds_an_action_and_runs_it",
  "base/service-worker.ts":
    "test_reconnecting.py::test_a_page_that_is_reloaded_while_the_gateway_is_away_says_so_and_comes_back",
  "page/page-facts.ts": "test_frame.py::test_the_status_line_shows_directory_branch_and_ports",
  "page/lazy-parts.ts": "test_frame.py::test_the_menu_is_used_with_the_keyboard_and_returns_the_focus",
  "page/page-core.ts": "test_viewers.py::test_the_end_of_a_shell_shows_its_exit_code_and_offers_a_new_one",
  "page/page-status.ts": "test_viewers.py::test_the_end_of_a_shell_shows_its_exit_code_and_offers_a_new_one",
  "page/actions/pane-actions.ts":
    "test_tabs.py::test_a_terminal_with_a_running_command_is_closed_only_after_a_question",
  "page/terminal/pane-notices.ts":
    "test_viewers.py::test_the_end_of_a_shell_shows_its_exit_code_and_offers_a_new_one",
  "frame/question.ts": "test_tabs.py::test_a_terminal_with_a_running_command_is_closed_only_after_a_question",
  "page/shell/question-notices.ts":
    "test_tabs.py::test_a_question_in_another_terminal_is_shown_outside_the_page_and_reached_by_a_shortcut",
  "page/shell/tab-strip.tsx": "test_tabs.py::test_terminals_are_opened_switched_and_closed_in_tabs",
  "page/terminal/terminal-look.ts":
    "test_theme.py::test_the_theme_follows_the_system_until_the_user_chooses_one",
  "page/terminal/terminal-pane.ts":
    "test_frame.py::test_a_split_shows_two_terminals_and_is_restored_after_a_reload",
  "page/shell/terminals.ts": "test_tabs.py::test_terminals_are_opened_switched_and_closed_in_tabs",
  "page/people/following.ts":
    "test_together.py::test_a_viewer_follows_another_to_its_pane_and_scroll_position",
  "page/people/collaboration.ts":
    "test_together.py::test_a_viewer_follows_another_to_its_pane_and_scroll_position",
  "page/people/view-sharing.ts":
    "test_together.py::test_a_viewer_follows_another_to_its_pane_and_scroll_position",
  "page/terminal/layout.ts":
    "test_people.py::test_the_size_follows_the_viewer_in_use_and_the_other_page_is_letterboxed",
  "page/main.ts": "test_viewers.py::test_the_end_of_a_shell_shows_its_exit_code_and_offers_a_new_one",
  "page/overlays.ts": "test_viewers.py::test_the_end_of_a_shell_shows_its_exit_code_and_offers_a_new_one",
  "page/shell/recordings.ts": "test_recording.py::test_a_terminal_is_recorded_and_played_in_the_page",
  "page/settings/settings-sheet.tsx": "test_settings.py::test_a_scheme_is_chosen_imported_and_kept",
  "views/desktop/desktop-pane.tsx":
    "test_desktop.py::test_a_desktop_is_started_used_and_shown_again_after_a_reload",
  "page/sandboxes/sandbox-form.ts": "test_sandboxes.py::test_a_sandbox_is_created_and_opened",
  "page/sandboxes/sandbox-row.ts": "test_sandboxes.py::test_a_sandbox_is_stopped_started_and_deleted",
  "page/sandboxes/sandbox-fields.tsx": "test_sandboxes.py::test_a_sandbox_is_created_and_opened",
  "page/sandboxes/sandbox-egress.ts": "test_sandboxes.py::test_what_a_sandbox_was_refused_is_shown",
  "page/sandboxes/sandbox-network.ts": "test_sandboxes.py::test_what_a_sandbox_was_refused_is_shown",
  "page/sandboxes/sandbox-list.ts": "test_sandboxes.py::test_the_list_follows_the_changes_of_others",
  "home/card-preview.ts": "test_home.py::test_the_page_shows_terminals_and_people_of_each_sandbox",
  "home/main.ts": "test_home.py::test_the_page_shows_terminals_and_people_of_each_sandbox",
  "page/sandboxes/sandboxes.ts": "test_sandboxes.py::test_the_list_follows_the_changes_of_others",
  "page/terminal/screen.ts":
    "test_recordings.py::test_recordings_are_started_found_played_and_deleted_in_the_rail",
  "page/terminal/search-bar.ts": "test_viewers.py::test_search_finds_text_in_the_scrollback",
  "page/touch/viewport.ts": "test_viewers.py::test_touch_scrolls_the_scrollback_and_a_pager",
  "playback/controls.ts": "test_recording.py::test_a_terminal_is_recorded_and_played_in_the_page",
  "playback/main.ts": "test_recording.py::test_a_terminal_is_recorded_and_played_in_the_page",
  "views/files/conflict-dialog.tsx":
    "test_files.py::test_dropped_files_are_uploaded_and_an_existing_one_is_a_question",
  "views/files/changes.tsx": "test_files.py::test_changes_since_the_last_commit_and_a_conflict_are_compared",
  "views/files/diff-view.ts": "test_files.py::test_changes_since_the_last_commit_and_a_conflict_are_compared",
  "views/files/editor-pane.tsx":
    "test_files.py::test_a_file_is_edited_and_a_change_by_another_program_is_not_overwritten",
  "page/refuse-drops.ts": "test_drops.py::test_a_drop_never_leaves_the_page",
  "views/files/upload-host.tsx":
    "test_drops.py::test_a_file_that_is_dropped_on_a_terminal_is_uploaded_into_its_directory",
  "views/files/file-list.tsx": "test_files.py::test_the_tree_is_used_with_the_keyboard_and_holds_many_files",
  "views/files/files-view.tsx": "test_files.py::test_the_tree_follows_changes_and_shows_the_marks_of_git",
  "views/files/text-editor.ts":
    "test_files.py::test_a_file_is_edited_and_a_change_by_another_program_is_not_overwritten",
  "views/notebook/cell-editor.ts":
    "test_notebook.py::test_cells_run_and_show_rich_output_that_cannot_reach_the_page",
  "views/notebook/cell-view.tsx":
    "test_notebook.py::test_cells_run_and_show_rich_output_that_cannot_reach_the_page",
  "views/notebook/notebook-toolbar.tsx":
    "test_notebook.py::test_a_notebook_file_is_saved_and_a_conflict_is_answered",
  "views/notebook/other-contexts.tsx":
    "test_notebook.py::test_what_an_agent_runs_in_the_context_appears_live",
  "views/notebook/notebook-pane.tsx":
    "test_notebook.py::test_a_notebook_is_restored_after_a_reload_and_exported",
  "views/notebook/output-frame.tsx":
    "test_notebook.py::test_cells_run_and_show_rich_output_that_cannot_reach_the_page",
  "views/notebook/output-view.tsx":
    "test_notebook.py::test_cells_run_and_show_rich_output_that_cannot_reach_the_page",
  "views/people/people-view.tsx":
    "test_together.py::test_the_rail_lists_people_at_all_terminals_and_leads_to_theirs",
  "views/ports/ports-view.tsx": "test_ports.py::test_ports_are_listed_exposed_and_their_previews_stopped",
  "views/ports/preview-pane.tsx":
    "test_ports.py::test_a_localhost_link_in_a_terminal_opens_the_preview_beside_it",
  "views/ports/qr-dialog.ts": "test_ports.py::test_ports_are_listed_exposed_and_their_previews_stopped",
  "views/ports/tunnel-dialog.tsx": "test_ports.py::test_a_port_gets_a_public_address_that_is_deleted",
  "views/processes/log-pane.ts": "test_processes.py::test_processes_are_listed_with_their_logs_and_stopped",
  "views/processes/processes-view.tsx":
    "test_processes.py::test_processes_are_listed_with_their_logs_and_stopped",
  "player/desktop-stage.ts": "test_desktop.py::test_a_desktop_is_recorded_and_played_in_the_page",
  "views/recordings/recording-pane.tsx":
    "test_recordings.py::test_recordings_are_started_found_played_and_deleted_in_the_rail",
  "views/recordings/recordings-view.tsx":
    "test_recordings.py::test_recordings_are_started_found_played_and_deleted_in_the_rail",
  "views/search/quick-open.ts": "test_search.py::test_a_file_is_opened_by_a_part_of_its_name",
  "views/search/search-view.tsx": "test_search.py::test_lines_are_found_and_opened_in_the_editor",
  "views/register.ts": "test_files.py::test_the_tree_follows_changes_and_shows_the_marks_of_git",
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

const MODULES = [...filesBelow("src", ".ts"), ...filesBelow("src", ".tsx")].sort();

function isFile(path: string): boolean {
  return statSync(join(WEB, "src", path)).isFile();
}

function testFileOf(module: string): string {
  return module.replace(/\.tsx?$/, ".test.ts");
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

test("a folder of src/ has at most 25 files", () => {
  const counts = new Map<string, number>();
  for (const path of filesBelow("src", "").filter(isFile))
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > 25)).toEqual([]);
});

test.each(Object.entries(DRAWING))("the browser test of %s exists: %s", (_, id) => {
  const [file, name] = id.split("::") as [string, string];
  expect(readFileSync(join(WEB, "../e2e", file), "utf8")).toContain(`async def ${name}(`);
});

test.each([...TYPES_ONLY])("%s contains no code", module => {
  const text = readFileSync(join(WEB, "src", module), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  expect(text).not.toMatch(/^(export )?(class|const|let|function|async function)\b/m);
});
