// Which pane shows a file.

import type { AppContext } from "../../frame/pane";

/** Shows a file beside the active pane: notebooks as such, all others in the editor. */
export function openFile(app: Pick<AppContext, "open">, path: string): void {
  app.open(/\.ipynb$/i.test(path) ? "notebook" : "editor", { path }, "right");
}
