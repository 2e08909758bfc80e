// The bell is seen, not heard: a short frame around the terminal, and a dot in the name of a tab that nobody looks at.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";

/** `ring`: the tab's name is to say that the bell has rung, or no longer. */
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
