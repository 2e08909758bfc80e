// Moments at which a line that was given up may well work again: the network is back, the tab is looked at, the page
// comes out of the browser's back-forward cache.

import { type Disposable, DisposableList } from "../base/disposables";

export function onWake(listener: () => void): Disposable {
  const disposables = new DisposableList();
  if (typeof window === "undefined") return disposables;
  disposables.listen(window, "online", listener);
  disposables.listen(window, "pageshow", listener);
  disposables.listen(document, "visibilitychange", () => {
    if (document.visibilityState === "visible") listener();
  });
  return disposables;
}
