// Lays out the terminal. All viewers share its size in cells, so the only thing the page can choose is the font size:
// the user's own, or a smaller one if the terminal is too large to fit. A terminal that would be too small to read is
// shown at full height and scrolls horizontally.

import type { FitAddon } from "@xterm/addon-fit";
import type { Terminal } from "@xterm/xterm";
import type { Size } from "../../terminal/size-proposer";

/**
 * Minimum font size in pixels; smaller text is hard to read. At this size, a phone in portrait mode shows 80 columns.
 */
const MIN_FONT = 7.5;
const LETTERBOXED = "letterboxed";

export class Layout {
  readonly #stage: HTMLElement;
  readonly #terminal: Terminal;
  readonly #fit: FitAddon;
  #wanted: number;

  constructor(stage: HTMLElement, terminal: Terminal, fit: FitAddon, fontSize: number) {
    this.#stage = stage;
    this.#terminal = terminal;
    this.#fit = fit;
    this.#wanted = fontSize;
  }

  /** Returns the terminal size that fits at the user's font size. */
  fitting(): Size | undefined {
    const { classList } = this.#stage;
    const framed = classList.contains(LETTERBOXED);
    const font = this.#font();
    if (!framed && font === this.#wanted) return this.#measure();
    classList.remove(LETTERBOXED);
    this.#setFont(this.#wanted);
    const size = this.#measure();
    this.#setFont(font);
    classList.toggle(LETTERBOXED, framed);
    return size;
  }

  /** Resizes the terminal to the size that fits; used until the server has sent the terminal's size. */
  fill(): void {
    const fit = this.#measure();
    if (fit) this.#terminal.resize(fit.cols, fit.rows);
  }

  setFontSize(size: number): void {
    this.#wanted = size;
    this.adapt();
  }

  /**
   * Chooses the font size so that the whole terminal is visible, and marks the stage if the terminal doesn't fill it.
   */
  adapt(): void {
    const { classList } = this.#stage;
    classList.remove(LETTERBOXED);
    this.#setFont(this.#wanted);
    const fit = this.#measure();
    if (!fit) return;
    const { cols, rows } = this.#terminal;
    if (cols === fit.cols && rows === fit.rows) return;
    classList.add(LETTERBOXED);
    if (!this.#shrink(cols, rows) && !this.#shrink(1, rows)) this.#setFont(MIN_FONT);
  }

  /** Sets the largest font size that fits `cols` × `rows`. Returns false if it would be below the minimum. */
  #shrink(cols: number, rows: number): boolean {
    this.#setFont(this.#wanted);
    const fit = this.#measure();
    const scale = fit ? Math.min(1, fit.cols / cols, fit.rows / rows) : 1;
    // Cell sizes are rounded to whole pixels, so the first estimate of the font size can be slightly too large.
    for (let size = Math.floor(this.#wanted * scale * 2) / 2; size >= MIN_FONT; size -= 0.5) {
      this.#setFont(size);
      const fits = this.#measure();
      if (fits && fits.cols >= cols && fits.rows >= rows) return true;
    }
    return false;
  }

  #measure(): Size | undefined {
    const size = this.#fit.proposeDimensions();
    if (!size || !Number.isFinite(size.cols) || !Number.isFinite(size.rows)) return undefined;
    return { cols: Math.min(size.cols, 1000), rows: Math.min(size.rows, 1000) };
  }

  #font(): number {
    return this.#terminal.options.fontSize ?? this.#wanted;
  }

  #setFont(size: number): void {
    if (this.#font() !== size) this.#terminal.options.fontSize = size;
  }
}
