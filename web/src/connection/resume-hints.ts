// Calls a listener when reconnecting is likely to succeed: when the network is available again, the tab becomes
// visible, or the page is restored from the browser's back-forward cache.

import { type Disposable, DisposableList } from "../base/disposables";

export function onResumeHint(listener: () => void): Disposable {
  const disposables = new DisposableList();
  if (typeof window === "undefined") return disposables;
  disposables.listen(window, "online", listener);
  disposables.listen(window, "pageshow", listener);
  disposables.listen(document, "visibilitychange", () => {
    if (document.visibilityState === "visible") listener();
  });
  return disposables;
}
