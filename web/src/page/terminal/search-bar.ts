// Searches the terminal's buffer, from the end upwards.

import "../style/search-bar.css";
import { type ISearchOptions, SearchAddon } from "@xterm/addon-search";
import type { ITheme, Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { iconButton, make, setText } from "../../base/dom";
import type { ThemeName } from "../settings/settings";
import { SEARCH_COLORS } from "../settings/themes";

/** Maximum number of matches to highlight and count. */
const MAX_MATCHES = 1_000;

export class SearchBar implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #terminal: Terminal;
  readonly #search = new SearchAddon({ highlightLimit: MAX_MATCHES });
  readonly #bar = document.createElement("search");
  readonly #input = make("input", "search-text");
  readonly #count = make("output", "search-count");
  readonly #theme: () => readonly [ThemeName, ITheme];

  /** `stage` is the element where the bar appears. `theme` returns the page theme and the terminal theme. */
  constructor(stage: HTMLElement, terminal: Terminal, theme: () => readonly [ThemeName, ITheme]) {
    this.#terminal = terminal;
    this.#theme = theme;
    terminal.loadAddon(this.#search);
    this.#draw(stage);
    this.#disposables.listen(this.#input, "input", () => this.#restart());
    this.#disposables.listen<KeyboardEvent>(this.#bar, "keydown", event => this.#key(event));
    this.#disposables.add(
      this.#search.onDidChangeResults(({ resultIndex, resultCount }) =>
        this.#showCount(resultIndex, resultCount),
      ),
    );
  }

  /** Opens the bar with the text `typed` or, if that's empty, with the last text searched for. */
  open(typed: string): void {
    this.#show(true);
    this.#input.focus();
    if (typed) this.#input.value = typed;
    else this.#input.select();
    this.#restart();
  }

  close(): void {
    this.#show(false);
    this.#search.clearDecorations();
    this.#terminal.clearSelection();
    this.#terminal.focus();
  }

  /**
   * Sets the terminal's theme. The active match is also selected, so the selection has the active match's colour during
   * a search.
   */
  applyTheme(): void {
    const [name, theme] = this.#theme();
    const { active } = SEARCH_COLORS[name];
    const open = !this.#bar.hidden;
    this.#terminal.options.theme = open ? { ...theme, selectionInactiveBackground: active } : theme;
    if (open) this.#restart();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #draw(stage: HTMLElement): void {
    this.#bar.className = "notice search-bar";
    this.#bar.hidden = true;
    Object.assign(this.#input, {
      type: "search",
      placeholder: "Find",
      autocomplete: "off",
      spellcheck: false,
    });
    this.#input.ariaLabel = "Find in the terminal";
    this.#input.enterKeyHint = "search";
    const up = iconButton("Previous match (Enter)", "m4 9.500 4-4 4 4");
    const down = iconButton("Next match (Shift+Enter)", "m4 6.500 4 4 4-4");
    const close = iconButton("Close (Escape)", "M4 4l8 8M12 4l-8 8");
    this.#bar.append(this.#input, this.#count, up, down, close);
    stage.append(this.#bar);
    this.#disposables.listen(up, "click", () => this.#findNext("up"));
    this.#disposables.listen(down, "click", () => this.#findNext("down"));
    this.#disposables.listen(close, "click", () => this.close());
    this.#disposables.defer(() => this.#bar.remove());
  }

  #show(open: boolean): void {
    this.#bar.hidden = !open;
    this.applyTheme();
  }

  /** Called when the text has changed: searches again from the end. */
  #restart(): void {
    this.#terminal.clearSelection();
    if (this.#input.value) this.#findNext("up");
    else {
      this.#search.clearDecorations();
      setText(this.#count, "");
    }
  }

  #findNext(direction: "up" | "down"): void {
    const text = this.#input.value;
    if (direction === "up") this.#search.findPrevious(text, this.#options());
    else this.#search.findNext(text, this.#options());
  }

  #options(): ISearchOptions {
    const { match, active } = SEARCH_COLORS[this.#theme()[0]];
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
    setText(this.#count, this.#input.value ? text : "");
  }

  #key(event: KeyboardEvent): void {
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && event.target === this.#input)
      this.#findNext(event.shiftKey ? "down" : "up");
    else return;
    event.preventDefault();
  }
}
