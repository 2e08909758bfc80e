// The page theme: the user's choice, or else the system's theme, which is followed when it changes. The style sheet
// follows the system on its own; `data-theme` on the root element overrides it.

import { type Disposable, DisposableList, Emitter } from "../../base/disposables";
import type { ThemeName } from "./settings";

/** The part of a MediaQueryList used for `(prefers-color-scheme: light)`. */
export type SystemTheme = EventTarget & Pick<MediaQueryList, "matches">;

export class PageTheme implements Disposable {
  readonly #root: Pick<HTMLElement, "dataset">;
  readonly #system: SystemTheme;
  readonly #disposables = new DisposableList();
  readonly #onChange = new Emitter<ThemeName>();
  #chosen: ThemeName | undefined;

  /** `chosen` is the stored theme; if undefined, the page follows the system. */
  constructor(root: Pick<HTMLElement, "dataset">, system: SystemTheme, chosen: ThemeName | undefined) {
    this.#root = root;
    this.#system = system;
    this.#chosen = chosen;
    this.#disposables.listen(system, "change", () => {
      if (!this.#chosen) this.#onChange.emit(this.current);
    });
    this.#apply();
  }

  /** Called when the current theme has changed. */
  readonly onChange = this.#onChange.on;

  get current(): ThemeName {
    return this.#chosen ?? this.#systemTheme;
  }

  /** The theme to store; undefined while the page follows the system. */
  get chosen(): ThemeName | undefined {
    return this.#chosen;
  }

  /** Switches to the other theme. If that's the system's theme, the page goes back to following the system. */
  toggle(): void {
    const theme = this.current === "dark" ? "light" : "dark";
    this.choose(theme === this.#systemTheme ? undefined : theme);
  }

  /** If `theme` is undefined, the page follows the system. */
  choose(theme: ThemeName | undefined): void {
    this.#chosen = theme;
    this.#apply();
    this.#onChange.emit(this.current);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  get #systemTheme(): ThemeName {
    return this.#system.matches ? "light" : "dark";
  }

  #apply(): void {
    if (this.#chosen) this.#root.dataset.theme = this.#chosen;
    else delete this.#root.dataset.theme;
  }
}
