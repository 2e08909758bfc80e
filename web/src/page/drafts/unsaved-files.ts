// Offers to open files with unsaved changes from a page that was closed.

import type { AppContext } from "../../frame/pane";
import { askInPane } from "../terminal/pane-question";

let announced = false;

/** Asks once whether to open the files. `stage` is the element of the pane that shows the question. */
export async function announceUnsaved(app: AppContext, stage: HTMLElement): Promise<void> {
  if (announced) return;
  announced = true;
  const shown = new Set([...app.workspace.panes.peek().values()].map(pane => pane.state().path));
  const files = (await (await app.drafts()).files(app.sandbox)).filter(path => !shown.has(path));
  if (!files.length) return;
  askInPane(stage, `This browser has unsaved changes in ${describeFiles(files)}`, [
    { label: "Open", run: () => openAll(app, files) },
    { label: "Not now", run: app.focus },
  ]);
}

/** Returns the names of the first two files and the number of remaining ones. */
export function describeFiles(paths: readonly string[]): string {
  const names = paths.map(path => path.split("/").at(-1) ?? path);
  if (names.length <= 2) return names.join(" and ");
  return `${names.slice(0, 2).join(", ")} and ${names.length - 2} more`;
}

function openAll(app: AppContext, files: readonly string[]): void {
  for (const [index, path] of files.entries()) app.open("editor", { path }, index ? "tab" : "right");
}
