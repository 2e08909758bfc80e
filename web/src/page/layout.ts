// How the terminal lies on the page. Its size in cells is everybody's; the page can only choose the font: the one that
// the user wants, or a smaller one while another viewer's terminal is larger than what fits here. What cannot be read
// when all of it is shown is shown in its whole height, and scrolled sideways.

import type { FitAddon } from "@xterm/addon-fit";
import type { Terminal } from "@xterm/xterm";
import type { Size } from "../terminal/size-proposer";

/** Pixels: below this, scrolling is better than squinting. A phone held upright shows 80 columns with it. */
const LEAST_FONT = 7.5;
const FRAMED = "letterboxed";

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

  /** The size that fits here in the font that the user wants. */
  fitting(): Size | undefined {
    const { classList } = this.#stage;
    const framed = classList.contains(FRAMED);
    const font = this.#font();
    if (!framed && font === this.#wanted) return this.#measure();
    classList.remove(FRAMED);
    this.#setFont(this.#wanted);
    const size = this.#measure();
    this.#setFont(font);
    classList.toggle(FRAMED, framed);
    return size;
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
    const { classList } = this.#stage;
    classList.remove(FRAMED);
    this.#setFont(this.#wanted);
    const fit = this.#measure();
    if (!fit) return;
    const { cols, rows } = this.#terminal;
    if (cols === fit.cols && rows === fit.rows) return;
    classList.add(FRAMED);
    if (!this.#shrink(cols, rows) && !this.#shrink(1, rows)) this.#setFont(LEAST_FONT);
  }

  /** The largest font in which so many cells fit; false if they would have to be too small. */
  #shrink(cols: number, rows: number): boolean {
    this.#setFont(this.#wanted);
    const fit = this.#measure();
    const scale = fit ? Math.min(1, fit.cols / cols, fit.rows / rows) : 1;
    // Cells are whole pixels, so the first guess may be a little too large.
    for (let size = Math.floor(this.#wanted * scale * 2) / 2; size >= LEAST_FONT; size -= 0.5) {
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
