// Shows typed text that the server hasn't applied yet, dimmed at the cursor, so that users can see that no input is
// lost while the connection is down.

import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { make, setText } from "../../base/dom";
import type { TerminalChannel } from "../../terminal/terminal-channel";
import { placeLayer } from "../terminal/cell-layer";

/** How long to wait for input to be applied before showing it, in milliseconds; most connections are faster. */
const DELAY = 400;
/** Milliseconds between checks while input is waiting. */
const INTERVAL = 100;
/** Maximum number of characters to display. */
const MAX_SHOWN = 500;

export interface WaitingKeysOptions {
  /** Whether the typed text is shown as a prediction. */
  predicted: () => boolean;
  /** Whether the running program may be asking for a password, so that typed text must stay hidden. */
  secret: () => boolean;
}

interface Typed {
  readonly text: string;
  /** The input stream that contains the text. `end` is the offset after the text in this stream. */
  readonly stream: string;
  readonly end: number;
  readonly at: number;
}

export class WaitingKeys implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #terminal: Terminal;
  readonly #channel: TerminalChannel;
  readonly #options: WaitingKeysOptions;
  readonly #decoder = new TextDecoder();
  readonly #layer = make("div", "waiting-keys");
  #typed: Typed[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(host: HTMLElement, terminal: Terminal, channel: TerminalChannel, options: WaitingKeysOptions) {
    this.#terminal = terminal;
    this.#channel = channel;
    this.#options = options;
    this.#layer.hidden = true;
    // Screen readers don't need the keys, because the announcement of the lost connection says that input is kept.
    this.#layer.ariaHidden = "true";
    host.querySelector(".xterm-screen")?.append(this.#layer);
    this.#disposables.defer(() => this.#layer.remove());
    this.#disposables.defer(() => clearInterval(this.#timer));
    this.#disposables.add(
      channel.onInput(bytes => this.#add(this.#decoder.decode(bytes))),
      // Input that a shell hadn't confirmed before it ended is no longer waiting.
      channel.onState(({ phase }) => phase === "ended" && this.#forget()),
    );
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #add(text: string): void {
    const { id, end } = this.#channel.input;
    if (this.#typed.length >= MAX_SHOWN) return;
    this.#typed.push({ text: text.slice(0, MAX_SHOWN), stream: id, end, at: performance.now() });
    this.#timer ??= setInterval(() => this.#update(), INTERVAL);
  }

  #forget(): void {
    this.#typed = [];
    this.#update();
  }

  #update(): void {
    const { id, applied } = this.#channel.input;
    this.#typed = this.#typed.filter(({ stream, end }) => stream === id && end > applied);
    const [first] = this.#typed;
    if (!first) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    const { active } = this.#terminal.buffer;
    const late = first !== undefined && performance.now() - first.at > DELAY;
    this.#layer.hidden =
      !late || this.#options.predicted() || active.type !== "normal" || active.viewportY < active.baseY;
    if (!this.#layer.hidden) this.#draw(this.#typed.map(({ text }) => text).join(""));
  }

  #draw(text: string): void {
    const shown = shownKeys(text);
    setText(this.#layer, this.#options.secret() ? shown.replace(/[^⏎⎋⇥ ]/gu, "•") : shown);
    placeLayer(this.#layer, this.#terminal, this.#terminal.buffer.active.cursorX);
  }
}

/**
 * Returns typed text as a prompt would show it: without erased characters, and with a symbol for each key that has no
 * character.
 */
export function shownKeys(text: string): string {
  const shown: string[] = [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the keys of a terminal are control characters
  for (const [key] of text.matchAll(/\x1b(?:\[[0-9;]*[ -/]*[@-~]|O.|.)?|[^\x1b]/gsu)) {
    if (key === "\x7f" || key === "\b") shown.pop();
    else if (key === "\r" || key === "\n") shown.push("⏎ ");
    else if (key === "\t") shown.push("⇥");
    else if (key.startsWith("\x1b")) shown.push("⎋");
    else if (key < " ") shown.push(`^${String.fromCharCode(key.charCodeAt(0) + 64)}`);
    else shown.push(key);
  }
  return shown.join("");
}
