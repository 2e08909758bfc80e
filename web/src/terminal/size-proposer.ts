// Proposes this viewer's size. A terminal has one size for all viewers: the active viewer's. This module proposes the
// size that fits this viewer, debounced, and only while this viewer is active. The resulting size arrives in all
// viewers' streams.

/** Debounce time in milliseconds. While a window is being resized, its size changes 60 times a second. */
export const SETTLE = 100;

export interface Size {
  cols: number;
  rows: number;
}

export interface SizeProposerOptions {
  /** The size that currently fits; undefined before the first layout. */
  fitting(): Size | undefined;
  /** The size last reported to the server. */
  current(): Size;
  /** Whether the user is using this viewer. */
  inUse(): boolean;
  propose(size: Size): void;
}

export class SizeProposer {
  readonly #options: SizeProposerOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SizeProposerOptions) {
    this.#options = options;
  }

  /** Called when the size that fits may have changed. */
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
