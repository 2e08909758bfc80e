// Shows a desktop recording by drawing its rectangles in order on a canvas.

import type { Disposable } from "../base/disposables";
import type { Stage } from "./player";
import { inflate, parseRectangles, type Rectangle, toRgba } from "./rectangles";

export class DesktopStage implements Stage, Disposable {
  readonly #canvas = document.createElement("canvas");
  readonly #context: CanvasRenderingContext2D | null;

  constructor(host: HTMLElement) {
    this.#canvas.role = "img";
    this.#canvas.ariaLabel = "Screen of the recording";
    host.classList.add("desktop");
    this.#context = this.#canvas.getContext("2d");
    host.append(this.#canvas);
  }

  reset(): void {
    this.#context?.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
  }

  /** `width` and `height` are in pixels. */
  resize(width: number, height: number): void {
    this.#canvas.width = width;
    this.#canvas.height = height;
  }

  write(data: string | Uint8Array, done: () => void): void {
    const lines = typeof data === "string" ? data.split("\n") : [];
    void this.#draw(lines).then(done, done);
  }

  dispose(): void {
    this.#canvas.remove();
  }

  async #draw(lines: readonly string[]): Promise<void> {
    for (const line of lines) {
      for (const rectangle of parseRectangles(line)) {
        const { x, y, width, height } = rectangle;
        if (x + width > this.#canvas.width || y + height > this.#canvas.height) continue; // skips a damaged rectangle
        const pixels = await inflate(rectangle.data, 3 * width * height).catch(() => undefined);
        if (pixels) this.#put(rectangle, pixels);
      }
    }
  }

  #put({ x, y, width, height }: Rectangle, rgb: Uint8Array): void {
    this.#context?.putImageData(new ImageData(toRgba(rgb, width * height), width, height), x, y);
  }
}
