// A terminal has one size for all its viewers; the one in use decides. This asks for the size that fits here, seldom,
// and only while somebody uses this viewer. Whether it is granted comes back in the stream, as everybody's.

/** Milliseconds of quiet before asking: a window being dragged changes its size 60 times a second. */
export const SETTLE = 100;

export interface Size {
  cols: number;
  rows: number;
}

export interface SizeProposerOptions {
  /** What fits here now; undefined while nothing is laid out. */
  fitting(): Size | undefined;
  /** What the terminal has now. */
  current(): Size;
  /** Does the user look at and use this viewer? */
  inUse(): boolean;
  propose(size: Size): void;
}

export class SizeProposer {
  readonly #options: SizeProposerOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SizeProposerOptions) {
    this.#options = options;
  }

  /** Something has changed that may make another size right. */
  nudge(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#propose(), SETTLE);
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }

  #propose(): void {
    const { fitting, current, inUse, propose } = this.#options;
    const fit = fitting();
    if (!fit || !inUse()) return;
    const now = current();
    if (fit.cols !== now.cols || fit.rows !== now.rows) propose(fit);
  }
}
