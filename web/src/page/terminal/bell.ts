// Shows the bell as a brief frame around the terminal, and as a dot in the title of a background tab.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";

/** `ring` is called with true when the bell rings in a background tab, and with false when the tab becomes visible. */
export function showBell(
  terminal: Terminal,
  stage: HTMLElement,
  ring: (unseen: boolean) => void,
): Disposable {
  const disposables = new DisposableList();
  disposables.add(
    terminal.onBell(() => {
      stage.classList.add("bell");
      if (document.hidden) ring(true);
    }),
  );
  disposables.listen(document, "visibilitychange", () => document.hidden || ring(false));
  disposables.listen(stage, "animationend", () => stage.classList.remove("bell"));
  return disposables;
}
