// The bell is seen, not heard: a short frame around the terminal.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";

export function showBell(terminal: Terminal, stage: HTMLElement): Disposable {
  const disposables = new DisposableList();
  disposables.add(terminal.onBell(() => stage.classList.add("bell")));
  disposables.listen(stage, "animationend", () => stage.classList.remove("bell"));
  return disposables;
}
