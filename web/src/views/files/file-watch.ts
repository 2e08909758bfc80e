// Reports when a file may have changed, including after the connection is lost.

import type { Disposable } from "../../base/disposables";
import type { Namespace } from "../../client/sandbox";
import { follow } from "../follow";
import { parentOf } from "./tree";

/**
 * Watches the directory of a file until the returned object is disposed of. If the user may not watch it, nothing is
 * reported.
 *
 * @param changed - Called when the file may have a new version, and whenever the connection has been lost.
 */
export function watchFile(
  box: { readonly watch: Pick<Namespace<"watch">, "start"> },
  path: string,
  changed: () => void,
): Disposable {
  const end = `/${path.split("/").at(-1)}`;
  let connected = false;
  return follow({
    open: () => box.watch.start({ path: parentOf(path) || ".", recursive: false, exclude: [] }),
    item: item => {
      if (item.event === "data") return;
      const first = item.event === "watching" && !connected;
      connected = true;
      const others =
        item.event === "changes" && !item.value.changes.some(each => `/${each.path}`.endsWith(end));
      if (!first && !others) changed();
    },
  });
}
