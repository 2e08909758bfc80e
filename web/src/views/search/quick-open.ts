// Opens a file by a part of its name.

import { File } from "lucide";
import { visible } from "../../base/visible";
import { sandboxHandle } from "../../client/sandbox";
import { openChooser } from "../../frame/palette";
import type { AppContext } from "../../frame/pane";
import { openFile } from "../files/open-file";
import { EXCLUDED } from "./results";

/** Files that can be found at most: the list is searched here, with each key. */
const FILES = 50_000;

/** `typed`: returns what was typed before the text field was there; undefined: nothing is wanted. Throws HawseError. */
export async function quickOpen(app: AppContext, typed: () => string | undefined): Promise<void> {
  const paths: string[] = [];
  const stream = sandboxHandle(app.client, app.sandbox).file.search({
    path: ".",
    exclude: EXCLUDED,
    limit: FILES,
  });
  for await (const item of stream)
    if (item.event === "matches") paths.push(...item.value.matches.map(({ path }) => path));
  paths.sort((a, b) => a.split("/").length - b.split("/").length || a.localeCompare(b));
  openChooser({
    label: "Open a file",
    empty: "No file has this name.",
    entries: paths.map(path => ({
      id: path,
      label: visible(path),
      group: "",
      icon: File,
      run: () => openFile(app, path),
    })),
    typed,
    closed: app.focus,
  });
}
