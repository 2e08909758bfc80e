// Searches the terminal's buffer, from the end upwards.

import { type ISearchOptions, SearchAddon } from "@xterm/addon-search";
import type { ITheme, Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";
import { byId, setText } from "./dom";

/** Maximum number of matches that are highlighted and counted. */
const MAX_MATCHES = 1_000;
/** Colour of the active match. It is also selected, so the selection gets this colour too. */
const ACTIVE = "#c2571a";
const SEARCH_OPTIONS: ISearchOptions = {
  decorations: {
    matchBackground: "#7a6420",
    matchOverviewRuler: "#7a6420",
    activeMatchBackground: ACTIVE,
    activeMatchColorOverviewRuler: ACTIVE,
  },
};

export class SearchBar implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #terminal: Terminal;
  readonly #search = new SearchAddon({ highlightLimit: MAX_MATCHES });
  readonly #bar = byId("search-bar");
  readonly #button = byId("find");
  readonly #input = byId<HTMLInputElement>("search-text");
  readonly #theme: () => ITheme;

  /** `theme`: returns the terminal's current theme, which is restored on close. */
  constructor(terminal: Terminal, theme: () => ITheme) {
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

  dispose(): void {
    this.#disposables.dispose();
  }

  #show(open: boolean): void {
    this.#bar.hidden = !open;
    const theme = this.#theme();
    this.#terminal.options.theme = open ? { ...theme, selectionInactiveBackground: ACTIVE } : theme;
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
    if (direction === "up") this.#search.findPrevious(text, SEARCH_OPTIONS);
    else this.#search.findNext(text, SEARCH_OPTIONS);
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
