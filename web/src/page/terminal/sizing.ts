// Connects the layout to the server's size policy: reports the size that fits, and adapts the layout to the size that
// the server chooses.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import type { AttachedTerminal } from "../../terminal/attach-xterm";
import { type Size, SizeProposer } from "../../terminal/size-proposer";
import type { Layout } from "./layout";
import type { ForeignSize, OpenTerminal } from "./terminal-options";

export class Sizing implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #proposer: SizeProposer;
  /** A replay contains earlier sizes. Only the last one is laid out, because layout takes time. */
  #replaying = false;
  /** The size that this viewer proposed last. */
  #proposed: Size | undefined;

  constructor(
    host: HTMLElement,
    terminal: Terminal,
    layout: Layout,
    attached: AttachedTerminal,
    { propose, inUse }: { propose: (size: Size) => void; inUse: () => boolean },
  ) {
    const proposer = new SizeProposer({
      fitting: () => layout.fitting(),
      current: () => this.#proposed ?? { cols: 0, rows: 0 },
      inUse,
      propose: size => {
        this.#proposed = size;
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
      terminal.onResize(() => this.#replaying || layout.adapt()),
      attached.onReplayed(() => {
        this.#replaying = false;
        layout.adapt();
      }),
      attached.channel.onState(({ phase }) => {
        if (phase === "replaying") this.#replaying = true;
        if (phase === "attaching") this.#proposed = undefined;
        if (phase === "live") proposer.nudge();
      }),
    );
  }

  /** Called when the size that fits may have changed. */
  nudge(): void {
    this.#proposer.nudge();
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}

/** Returns the terminal's size if it isn't the size that fits in this pane. */
export function foreignSizeOf({
  terminal: { cols, rows },
  layout,
  channel,
}: Pick<OpenTerminal, "terminal" | "layout" | "channel">): ForeignSize | undefined {
  const fit = layout.fitting();
  if (!fit || (fit.cols === cols && fit.rows === rows)) return undefined;
  const { others, readOnly } = channel.people;
  // The server doesn't report which viewer determines the size, so this is inferred.
  const focused = others.filter(({ focus }) => focus);
  const candidates = focused.length ? focused : others;
  const of = candidates.length === 1 ? candidates[0] : undefined;
  return { cols, rows, of, mayUse: !readOnly };
}
