// Opens a file by part of its name.

import { computed } from "@preact/signals";
import { File } from "lucide";
import { visible } from "../../base/visible";
import { sandboxHandle } from "../../client/sandbox";
import { type Entry, matching, openChooser } from "../../frame/palette";
import type { AppContext } from "../../frame/pane";
import { openFile } from "../files/open-file";
import { FileFinder } from "./file-finder";

/** `typed` returns the text typed before the text field existed; undefined if the user has cancelled. */
export function quickOpen(app: AppContext, typed: () => string | undefined): void {
  const finder = new FileFinder(sandboxHandle(app.client, app.sandbox));
  let text = "";
  const entryOf = (path: string): Entry => ({
    id: path,
    label: visible(path),
    group: "",
    icon: File,
    run: () => openFile(app, path),
  });
  const found = computed(() => {
    const { paths, status } = finder.found.value;
    return { entries: ranked(paths.map(entryOf), text), status };
  });
  openChooser({
    label: "Open a file",
    entries: {
      found,
      search: wanted => {
        text = wanted;
        finder.search(wanted);
      },
      dispose: () => finder.dispose(),
    },
    typed,
    closed: app.focus,
  });
}

/**
 * Sorts the best matches first. All of them have been matched by the server, including files that the command search
 * wouldn't find.
 */
function ranked(entries: Entry[], text: string): Entry[] {
  const depth = ({ label }: Entry) => label.split("/").length;
  entries.sort((a, b) => depth(a) - depth(b) || a.label.localeCompare(b.label));
  const name =
    text
      .trim()
      .split(/[\s/]+/)
      .at(-1)
      ?.toLowerCase() ?? "";
  const isNamed = ({ label }: Entry) => label.toLowerCase().split("/").at(-1)?.split(".")[0] === name;
  const best = new Set([...entries.filter(isNamed), ...matching(entries, text)]);
  return [...best, ...entries.filter(entry => !best.has(entry))];
}
