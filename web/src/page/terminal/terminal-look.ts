// A terminal's appearance: the user's font and colours, the page theme, and the search, which has its own colours.

import { effect } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { holdKeys } from "../hold-keys";
import type { ThemeName } from "../settings/settings";
import { appearance } from "../settings/themes";
import type { Layout } from "./layout";
import type { SearchBar } from "./search-bar";
import type { Sizing } from "./sizing";
import type { TerminalOptions } from "./terminal-options";

export class TerminalLook implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #stage: HTMLElement;
  readonly #terminal: Terminal;
  readonly #options: Pick<TerminalOptions, "settings" | "theme">;
  #search: SearchBar | undefined;
  #disposed = false;

  constructor(
    stage: HTMLElement,
    terminal: Terminal,
    { layout, sizing }: { layout: Layout; sizing: Sizing },
    options: Pick<TerminalOptions, "settings" | "theme">,
  ) {
    this.#stage = stage;
    this.#terminal = terminal;
    this.#options = options;
    const { settings, theme } = options;
    this.#disposables.defer(
      effect(() => {
        const { fontSize, screenReader } = settings.signal.value;
        terminal.options.screenReaderMode = screenReader;
        this.#apply(theme.current);
        layout.setFontSize(fontSize);
        sizing.nudge();
      }),
    );
    this.#disposables.add(theme.onChange(name => this.#apply(name)));
  }

  /** Opens the search. Its module is loaded when the search is first used. */
  async find(): Promise<void> {
    const typed = holdKeys(window);
    const { SearchBar } = await import("./search-bar").finally(typed);
    const text = typed();
    if (this.#disposed || text === undefined) return;
    if (!this.#search) {
      const { settings, theme } = this.#options;
      this.#search = new SearchBar(this.#stage, this.#terminal, () => [
        theme.current,
        appearance(settings.value, theme.current).theme,
      ]);
      this.#disposables.add(this.#search);
    }
    this.#search.open(text);
  }

  dispose(): void {
    this.#disposed = true;
    this.#disposables.dispose();
  }

  #apply(name: ThemeName): void {
    const options = appearance(this.#options.settings.value, name);
    Object.assign(this.#terminal.options, options);
    this.#stage.style.setProperty("--terminal", options.theme.background ?? "");
    this.#search?.applyTheme();
  }
}
