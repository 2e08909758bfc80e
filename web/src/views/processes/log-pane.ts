// A pane with a process's output, from the start and then live. It's drawn by xterm.js, because programs print colours
// and redraw lines.

import { errorText } from "../../client/error-text";
import { sandboxHandle } from "../../client/sandbox";
import "../style/views.css";
import "../style/processes.css";
import { signal } from "@preact/signals";
import { FitAddon } from "@xterm/addon-fit";
import { type ITheme, Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import type { AppContext, Pane, PaneState, PaneStatus } from "../../frame/pane";
import { HawseError } from "../../wire/errors";

/** Number of lines to keep. */
const SCROLLBACK = 20_000;
/** Once this many bytes have been written, the pane waits until they have been drawn. */
const BATCH = 262_144;

export class LogPane implements Pane {
  readonly kind = "log";
  readonly id: string;
  readonly title;
  readonly status = signal<PaneStatus>("running");
  readonly #app: AppContext;
  readonly #disposables = new DisposableList();
  #terminal: Terminal | undefined;

  constructor(app: AppContext, state: PaneState) {
    this.#app = app;
    this.id = state.id ?? "";
    this.title = signal(`Log of ${this.id}`);
  }

  mount(element: HTMLElement): Disposable {
    const host = document.createElement("div");
    host.className = "log";
    element.append(host);
    const terminal = new Terminal({
      convertEol: true,
      cursorInactiveStyle: "none",
      disableStdin: true,
      fontFamily: getComputedStyle(element).getPropertyValue("--mono"),
      fontSize: 13,
      lineHeight: 1.3,
      minimumContrastRatio: 4.5,
      scrollback: SCROLLBACK,
      theme: themeOf(host),
    });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    terminal.open(host);
    terminal.textarea?.setAttribute("aria-label", `Output of ${this.id}`);
    this.#terminal = terminal;
    const observer = new ResizeObserver(() => fit.fit());
    observer.observe(host);
    const scheme = matchMedia("(prefers-color-scheme: light)");
    this.#disposables.listen(scheme, "change", () => {
      terminal.options.theme = themeOf(host);
    });
    const output = sandboxHandle(this.#app.client, this.#app.sandbox).output(this.id);
    void this.#show(output, terminal);
    this.#disposables.defer(() => void output.return());
    this.#disposables.defer(() => observer.disconnect());
    this.#disposables.defer(() => {
      this.#terminal = undefined;
      terminal.dispose();
      host.remove();
    });
    return { dispose: () => this.dispose() };
  }

  focus(): void {
    this.#terminal?.focus();
  }

  state(): PaneState {
    return { id: this.id };
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #show(output: AsyncIterable<{ bytes: Uint8Array }>, terminal: Terminal): Promise<void> {
    let waiting = 0;
    try {
      for await (const { bytes } of output) {
        if (this.#terminal !== terminal) return;
        waiting += bytes.length;
        if (waiting < BATCH) terminal.write(bytes);
        else {
          waiting = 0;
          await new Promise<void>(resolve => terminal.write(bytes, resolve));
        }
      }
      this.#end("idle", "ended");
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      if (error.code !== "cancelled") this.#end("failed", errorText(error));
    }
  }

  #end(status: PaneStatus, text: string): void {
    this.status.value = status;
    this.#terminal?.write(`\r\n\x1b[2m[${text}]\x1b[0m\r\n`);
  }
}

/** Uses the page's colours, except for xterm.js's 16 ANSI colours. */
function themeOf(element: HTMLElement): ITheme {
  const color = (name: string) => {
    // A new element is used for each colour, because a change to an existing element's colour may be animated.
    const probe = document.createElement("span");
    probe.style.color = `var(${name})`;
    element.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  return { background: color("--surface"), foreground: color("--text"), cursor: color("--surface") };
}
