// Searches the terminal's buffer, from the end upwards.

import { type ISearchOptions, SearchAddon } from "@xterm/addon-search";
import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";
import { byId, setText } from "./dom";
import type { ThemeName } from "./settings";
import { SEARCH_COLORS, THEMES } from "./themes";

/** Maximum number of matches that are highlighted and counted. */
const MAX_MATCHES = 1_000;

export class SearchBar implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #terminal: Terminal;
  readonly #search = new SearchAddon({ highlightLimit: MAX_MATCHES });
  readonly #bar = byId("search-bar");
  readonly #button = byId("find");
  readonly #input = byId<HTMLInputElement>("search-text");
  readonly #theme: () => ThemeName;

  /** `theme`: returns the current theme. */
  constructor(terminal: Terminal, theme: () => ThemeName) {
    this.#terminal = terminal;
    this.#theme = theme;
    terminal.loadAddon(this.#search);
    this.#disposables.listen(this.#button, "click", () => (this.#bar.hidden ? this.open() : this.close()));
    this.#disposables.listen(byId("search-up"), "click", () => this.#findNext("up"));
    this.#disposables.listen(byId("search-down"), "click", () => this.#findNext("down"));
    this.#disposables.listen(byId("search-close"), "click", () => this.close());
    this.#disposables.listen(this.#input, "input", () => this.#restart());
    this.#disposables.listen<KeyboardEvent>(this.#bar, "keydown", event => this.#key(event));
    this.#disposables.add(
      this.#search.onDidChangeResults(({ resultIndex, resultCount }) =>
        this.#showCount(resultIndex, resultCount),
      ),
    );
  }

  /** For xterm's key handler: returns true if the key opens the bar and must not reach the program. */
  handleKey(event: KeyboardEvent): boolean {
    const isSearchKey = event.key.toLowerCase() === "f" && !event.altKey;
    if (!isSearchKey || !((event.ctrlKey && event.shiftKey) || event.metaKey)) return false;
    event.preventDefault();
    if (event.type === "keydown") this.open();
    return true;
  }

  open(): void {
    this.#show(true);
    this.#input.select();
    this.#input.focus();
    this.#restart();
  }

  close(): void {
    this.#show(false);
    this.#search.clearDecorations();
    this.#terminal.clearSelection();
    this.#terminal.focus();
  }

  /** Sets the terminal's theme. The active match is also selected, so the selection has its colour while searching. */
  applyTheme(): void {
    const name = this.#theme();
    const { active } = SEARCH_COLORS[name];
    const open = !this.#bar.hidden;
    this.#terminal.options.theme = open
      ? { ...THEMES[name], selectionInactiveBackground: active }
      : THEMES[name];
    if (open) this.#restart();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #show(open: boolean): void {
    this.#bar.hidden = !open;
    this.applyTheme();
    this.#button.setAttribute("aria-expanded", String(open));
  }

  /** The text has changed: search again from the end. */
  #restart(): void {
    this.#terminal.clearSelection();
    if (this.#input.value) this.#findNext("up");
    else {
      this.#search.clearDecorations();
      setText(byId("search-count"), "");
    }
  }

  #findNext(direction: "up" | "down"): void {
    const text = this.#input.value;
    if (direction === "up") this.#search.findPrevious(text, this.#options());
    else this.#search.findNext(text, this.#options());
  }

  #options(): ISearchOptions {
    const { match, active } = SEARCH_COLORS[this.#theme()];
    return {
      decorations: {
        matchBackground: match,
        matchOverviewRuler: match,
        activeMatchBackground: active,
        activeMatchColorOverviewRuler: active,
      },
    };
  }

  #showCount(index: number, count: number): void {
    const many = count >= MAX_MATCHES ? `${MAX_MATCHES}+` : String(count);
    const text = count === 0 ? "Not found" : index < 0 ? many : `${index + 1} of ${many}`;
    setText(byId("search-count"), this.#input.value ? text : "");
  }

  #key(event: KeyboardEvent): void {
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && event.target === this.#input)
      this.#findNext(event.shiftKey ? "down" : "up");
    else return;
    event.preventDefault();
  }
}
