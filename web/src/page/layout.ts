// How the terminal lies on the page. Its size in cells is everybody's; the page can only choose the font: the one that
// the user wants, or a smaller one while another viewer's terminal is larger than what fits here.

import type { FitAddon } from "@xterm/addon-fit";
import type { Terminal } from "@xterm/xterm";
import type { Size } from "../terminal/size-proposer";

/** Pixels: below this, scrolling is better than squinting. */
const LEAST_FONT = 6;

export class Layout {
  readonly #stage: HTMLElement;
  readonly #terminal: Terminal;
  readonly #fit: FitAddon;
  readonly #least: number;
  #wanted: number;

  constructor(stage: HTMLElement, terminal: Terminal, fit: FitAddon, fontSize: number, least = LEAST_FONT) {
    this.#least = least;
    this.#stage = stage;
    this.#terminal = terminal;
    this.#fit = fit;
    this.#wanted = fontSize;
  }

  /** The size that fits here in the font that the user wants. */
  fitting(): Size | undefined {
    const now = this.#measure();
    const scale = this.#font() / this.#wanted;
    if (!now || scale === 1) return now;
    return this.#withFont(this.#wanted, () => this.#measure());
  }

  /** Before anybody has said what size the terminal has: as it would be if it were ours alone. */
  fill(): void {
    const fit = this.#measure();
    if (fit) this.#terminal.resize(fit.cols, fit.rows);
  }

  setFontSize(size: number): void {
    this.#wanted = size;
    this.adapt();
  }

  /** Chooses the font so that the whole terminal is seen, and marks the stage where it does not fill it. */
  adapt(): void {
    this.#setFont(this.#wanted);
    const fit = this.#measure();
    if (!fit) return;
    const { cols, rows } = this.#terminal;
    this.#stage.classList.toggle("letterboxed", cols !== fit.cols || rows !== fit.rows);
    const scale = Math.min(1, fit.cols / cols, fit.rows / rows);
    if (scale < 1) this.#shrink(scale, cols, rows);
  }

  #shrink(scale: number, cols: number, rows: number): void {
    // Cells are whole pixels, so the first guess may be a little too large.
    for (let size = Math.floor(this.#wanted * scale * 2) / 2; size >= this.#least; size -= 0.5) {
      this.#setFont(size);
      const fits = this.#measure();
      if (fits && fits.cols >= cols && fits.rows >= rows) return;
    }
  }

  #measure(): Size | undefined {
    const size = this.#fit.proposeDimensions();
    if (!size || !Number.isFinite(size.cols) || !Number.isFinite(size.rows)) return undefined;
    return { cols: Math.min(size.cols, 1000), rows: Math.min(size.rows, 1000) };
  }

  #withFont<T>(size: number, action: () => T): T {
    const before = this.#font();
    this.#setFont(size);
    const result = action();
    this.#setFont(before);
    return result;
  }

  #font(): number {
    return this.#terminal.options.fontSize ?? this.#wanted;
  }

  #setFont(size: number): void {
    if (this.#font() !== size) this.#terminal.options.fontSize = size;
  }
}
