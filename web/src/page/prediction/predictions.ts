// Shows typed text before the program has printed it, underlined, in the cells where it will appear (decision 0265).

import type { IMarker, Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { make, setText } from "../../base/dom";
import type { TerminalChannel } from "../../terminal/terminal-channel";
import { preferences } from "../settings/preferences";
import { placeLayer } from "../terminal/cell-layer";
import { type CursorRow, cellsBefore, PredictedLine } from "./predicted-line";

/** A connection is considered slow if an echo takes longer than this, in milliseconds; Mosh uses the same limit. */
const SLOW = 60;
/** Milliseconds between checks while keys are waiting for their echo. */
const INTERVAL = 50;
/** The emulator's replies to program queries, and focus and mouse reports. Programs don't echo them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals answer with control sequences
const REPORT = /^\x1b(?:\[[?>=]?[\d;]*[Rcny]|\[[IO]$|\[<|\[M|[P\]])/;

export class Predictions implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #terminal: Terminal;
  readonly #channel: TerminalChannel;
  readonly #line = new PredictedLine();
  readonly #text = make("u", "");
  readonly #cursor = make("i", "", " ");
  readonly #layer = make("div", "predicted", this.#text, this.#cursor);
  readonly #decoder = new TextDecoder();
  /** The row the cursor was in at the last check; undefined if nothing has been typed. */
  #row: IMarker | undefined;
  #slow = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(host: HTMLElement, terminal: Terminal, channel: TerminalChannel) {
    this.#terminal = terminal;
    this.#channel = channel;
    this.#layer.hidden = true;
    this.#layer.ariaHidden = "true"; // screen readers read the text once the program has printed it
    host.querySelector(".xterm-screen")?.append(this.#layer);
    this.#disposables.defer(() => this.#layer.remove());
    this.#disposables.defer(() => this.#stop());
    this.#disposables.add(
      channel.onInput(bytes => this.#typed(this.#decoder.decode(bytes))),
      channel.onState(() => this.#draw()),
      terminal.onWriteParsed(() => this.#printed()),
      terminal.onResize(() => {
        this.#line.giveUp();
        this.#draw();
      }),
    );
  }

  /** Whether any typed text is being shown. */
  get shown(): boolean {
    return !this.#layer.hidden;
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #typed(text: string): void {
    if (REPORT.test(text) || preferences().value.predict === "never") return;
    const { id, end } = this.#channel.input;
    const applied = () => {
      const { input } = this.#channel;
      return input.id !== id || input.applied >= end;
    };
    this.#line.typed(text, this.#look(), performance.now(), applied);
    if (this.#line.since === undefined) return;
    this.#timer ??= setInterval(() => this.#tick(), INTERVAL);
    this.#draw();
  }

  #printed(): void {
    if (!this.#row) return;
    const echo = this.#line.printed(this.#look(), performance.now());
    if (echo !== undefined) this.#slow = echo > SLOW;
    this.#draw();
  }

  #tick(): void {
    this.#line.tick(performance.now());
    this.#draw();
  }

  #draw(): void {
    const { active } = this.#terminal.buffer;
    const { since } = this.#line;
    if (since === undefined) this.#stop();
    const wanted = since !== undefined && (this.shown || this.#late(since));
    // While there is no connection, `WaitingKeys` shows all keys.
    const possible = this.#channel.state.phase === "live" && active.viewportY === active.baseY;
    const prediction = wanted && possible ? this.#line.predicted(this.#look()) : undefined;
    this.#layer.hidden = !prediction;
    if (!prediction) return;
    const { column, text, width } = prediction;
    setText(this.#text, text);
    this.#layer.style.color = this.#terminal.options.theme?.foreground ?? "";
    placeLayer(this.#layer, this.#terminal, column, width + 1); // the layer has one more column, for the cursor
  }

  #late(since: number): boolean {
    return this.#slow || preferences().value.predict === "always" || performance.now() - since > SLOW;
  }

  #look(): CursorRow {
    const { cols, buffer } = this.#terminal;
    const { active } = buffer;
    const moved = this.#row?.line !== active.baseY + active.cursorY;
    if (moved) {
      this.#row?.dispose();
      this.#row = this.#terminal.registerMarker();
    }
    const row = active.getLine(active.baseY + active.cursorY);
    const atEnd = active.type === "normal" && row?.translateToString(true, active.cursorX) === "";
    return { moved, before: row ? cellsBefore(row, active.cursorX) : "", atEnd, cols };
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
