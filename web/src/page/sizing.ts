// The terminal's size: ours to propose while this page is in use, everybody's to follow.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";
import type { AttachedTerminal } from "../terminal/attach-xterm";
import { type Size, SizeProposer } from "../terminal/size-proposer";
import type { Layout } from "./layout";

export class Sizing implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #proposer: SizeProposer;
  /** The terminal has a size that is not ours: the user's next key asks for ours. */
  #foreign = false;

  constructor(
    host: HTMLElement,
    terminal: Terminal,
    layout: Layout,
    attached: AttachedTerminal,
    propose: (size: Size) => void,
  ) {
    const proposer = new SizeProposer({
      fitting: () => layout.fitting(),
      current: () => ({ cols: terminal.cols, rows: terminal.rows }),
      inUse: () => document.hasFocus(),
      propose,
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
      attached.channel.onResized(({ cols, rows }) => {
        const fit = layout.fitting();
        this.#foreign = fit !== undefined && (fit.cols !== cols || fit.rows !== rows);
      }),
      attached.onUserInput(() => {
        if (this.#foreign) proposer.nudge();
        this.#foreign = false;
      }),
      attached.channel.onState(({ phase }) => phase === "live" && proposer.nudge()),
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
