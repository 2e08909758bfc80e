// The terminal's size: the server's to choose, by who is in use; so it is told what would fit here. Everybody follows.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";
import type { AttachedTerminal } from "../terminal/attach-xterm";
import { type Size, SizeProposer } from "../terminal/size-proposer";
import type { Layout } from "./layout";

export class Sizing implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #proposer: SizeProposer;
  /** What the server knows to fit here. */
  #told: Size | undefined;

  constructor(
    host: HTMLElement,
    terminal: Terminal,
    layout: Layout,
    attached: AttachedTerminal,
    propose: (size: Size) => void,
  ) {
    const proposer = new SizeProposer({
      fitting: () => layout.fitting(),
      current: () => this.#told ?? { cols: 0, rows: 0 },
      inUse: () => !document.hidden,
      propose: size => {
        this.#told = size;
        propose(size);
      },
    });
    this.#proposer = proposer;
    const observer = new ResizeObserver(() => {
      layout.adapt();
      proposer.nudge();
    });
    observer.observe(host);
    this.#disposables.defer(() => observer.disconnect());
    this.#disposables.listen(window, "focus", () => proposer.nudge());
    this.#disposables.add(
      proposer,
      terminal.onResize(() => layout.adapt()),
      attached.channel.onState(({ phase }) => {
        if (phase === "attaching") this.#told = undefined;
        if (phase === "live") proposer.nudge();
      }),
    );
  }

  /** Something has changed that may make another size right. */
  nudge(): void {
    this.#proposer.nudge();
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}
