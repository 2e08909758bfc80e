// Finds text in what the terminal keeps: upwards from the end, as one looks for what has gone by.

import { type ISearchOptions, SearchAddon } from "@xterm/addon-search";
import type { ITheme, Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../base/disposables";
import { byId, setText } from "./dom";

/** Matches that are coloured and counted. */
const COUNTED = 1_000;
/** The match that is looked at is selected as well, so it is the selection that has to be seen. */
const ACTIVE = "#c2571a";
const LOOK: ISearchOptions = {
  decorations: {
    matchBackground: "#7a6420",
    matchOverviewRuler: "#7a6420",
    activeMatchBackground: ACTIVE,
    activeMatchColorOverviewRuler: ACTIVE,
  },
};

export class Finder implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #terminal: Terminal;
  readonly #search = new SearchAddon({ highlightLimit: COUNTED });
  readonly #bar = byId("finder");
  readonly #button = byId("find");
  readonly #sought = byId<HTMLInputElement>("sought");
  readonly #theme: () => ITheme;

  /** `theme`: what the terminal's colours are otherwise. */
  constructor(terminal: Terminal, theme: () => ITheme) {
    this.#terminal = terminal;
    this.#theme = theme;
    terminal.loadAddon(this.#search);
    this.#disposables.listen(this.#button, "click", () => (this.#bar.hidden ? this.open() : this.close()));
    this.#disposables.listen(byId("find-up"), "click", () => this.#step("up"));
    this.#disposables.listen(byId("find-down"), "click", () => this.#step("down"));
    this.#disposables.listen(byId("find-close"), "click", () => this.close());
    this.#disposables.listen(this.#sought, "input", () => this.#begin());
    this.#disposables.listen<KeyboardEvent>(this.#bar, "keydown", event => this.#key(event));
    this.#disposables.add(
      this.#search.onDidChangeResults(({ resultIndex, resultCount }) =>
        this.#count(resultIndex, resultCount),
      ),
    );
  }

  /** For xterm's key handler: true if the key opens the bar, and must not reach the program. */
  handleKey(event: KeyboardEvent): boolean {
    const asked = event.key.toLowerCase() === "f" && !event.altKey;
    if (!asked || !((event.ctrlKey && event.shiftKey) || event.metaKey)) return false;
    event.preventDefault();
    if (event.type === "keydown") this.open();
    return true;
  }

  open(): void {
    this.#show(true);
    this.#sought.select();
    this.#sought.focus();
    this.#begin();
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

  /** Another text: from the end again. */
  #begin(): void {
    this.#terminal.clearSelection();
    if (this.#sought.value) this.#step("up");
    else {
      this.#search.clearDecorations();
      setText(byId("found"), "");
    }
  }

  #step(where: "up" | "down"): void {
    const text = this.#sought.value;
    if (where === "up") this.#search.findPrevious(text, LOOK);
    else this.#search.findNext(text, LOOK);
  }

  #count(index: number, count: number): void {
    const many = count >= COUNTED ? `${COUNTED}+` : String(count);
    const text = count === 0 ? "Not found" : index < 0 ? many : `${index + 1} of ${many}`;
    setText(byId("found"), this.#sought.value ? text : "");
  }

  #key(event: KeyboardEvent): void {
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && event.target === this.#sought)
      this.#step(event.shiftKey ? "down" : "up");
    else return;
    event.preventDefault();
  }
}
