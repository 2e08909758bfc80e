// Scrolling by touch. xterm.js only handles wheel events, so this module handles vertical movement: it scrolls through
// the scrollback, or sends wheel events if there is no scrollback or the program handles the wheel. Horizontal movement
// is handled by the browser (`touch-action` in base.css).

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";

/** Minimum movement in pixels; anything shorter is a tap. */
const SLACK = 8;
/** The speed is multiplied by this factor every millisecond once the finger has been lifted. */
const GLIDE = 0.997;
/** Speed below which the movement stops, in pixels per millisecond. */
const MIN_SPEED = 0.05;

/** Converts small movements in pixels into whole lines. */
export class LineAccumulator {
  #rest = 0;

  /** Adds `pixels` to the movement, and removes the whole lines of `height` pixels from it. Returns their number. */
  add(pixels: number, height: number): number {
    this.#rest += pixels;
    const lines = Math.trunc(this.#rest / height) || 0; // avoids -0
    this.#rest -= lines * height;
    return lines;
  }
}

export class TouchScroll implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #terminal: Terminal;
  readonly #host: HTMLElement;
  readonly #lines = new LineAccumulator();
  #last: { x: number; y: number; time: number } | undefined;
  #moving = false;
  /** Speed in pixels per millisecond, upwards. */
  #speed = 0;
  #frame = 0;

  constructor(host: HTMLElement, terminal: Terminal) {
    this.#host = host;
    this.#terminal = terminal;
    this.#disposables.listen<TouchEvent>(host, "touchstart", event => this.#begin(event), { passive: true });
    this.#disposables.listen<TouchEvent>(host, "touchmove", event => this.#move(event), { passive: false });
    this.#disposables.listen<TouchEvent>(host, "touchend", () => this.#end());
    this.#disposables.listen<TouchEvent>(host, "touchcancel", () => this.#stop());
    this.#disposables.defer(() => this.#stop());
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #begin({ touches, timeStamp }: TouchEvent): void {
    this.#stop();
    const [finger] = touches;
    if (finger && touches.length === 1)
      this.#last = { x: finger.clientX, y: finger.clientY, time: timeStamp };
  }

  #move(event: TouchEvent): void {
    const [finger] = event.touches;
    const last = this.#last;
    if (!finger || !last || event.touches.length > 1) {
      this.#stop();
      return;
    }
    const { clientX: x, clientY: y } = finger;
    if (!this.#moving && Math.abs(y - last.y) < SLACK) return;
    this.#moving = true;
    event.preventDefault(); // suppresses the click, which would open the keyboard
    const passed = Math.max(event.timeStamp - last.time, 1);
    this.#speed = 0.5 * this.#speed + 0.5 * ((last.y - y) / passed);
    this.#last = { x, y, time: event.timeStamp };
    this.#scroll(last.y - y, this.#last);
  }

  #end(): void {
    const at = this.#last;
    this.#last = undefined;
    if (!this.#moving || !at || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    let before = performance.now();
    const glide = (now: number) => {
      const passed = now - before;
      before = now;
      this.#speed *= GLIDE ** passed;
      if (Math.abs(this.#speed) < MIN_SPEED) return;
      this.#scroll(this.#speed * passed, at);
      this.#frame = requestAnimationFrame(glide);
    };
    this.#frame = requestAnimationFrame(glide);
  }

  #stop(): void {
    cancelAnimationFrame(this.#frame);
    this.#last = undefined;
    this.#moving = false;
    this.#speed = 0;
  }

  #scroll(pixels: number, { x, y }: { x: number; y: number }): void {
    const screen = this.#terminal.element?.querySelector(".xterm-screen");
    if (!screen) return;
    const before = this.#host.scrollTop;
    this.#host.scrollTop += pixels;
    if (this.#host.scrollTop !== before) return;
    const lines = this.#lines.add(pixels, screen.clientHeight / this.#terminal.rows);
    const { buffer, modes } = this.#terminal;
    if (buffer.active.type === "normal" && modes.mouseTrackingMode === "none") {
      this.#terminal.scrollLines(lines);
      return;
    }
    const wheel = { deltaY: Math.sign(lines), deltaMode: WheelEvent.DOM_DELTA_LINE, clientX: x, clientY: y };
    for (let line = 0; line < Math.abs(lines); line++)
      screen.dispatchEvent(new WheelEvent("wheel", { ...wheel, bubbles: true, cancelable: true }));
  }
}
