// The header bar: title, status, and the buttons.

import { DisposableList, Emitter } from "../base/disposables";
import { byId, setText, within } from "./dom";
import type { ThemeName } from "./settings";
import type { Status } from "./status";

/** `byPointer`: pressed with a pointer, so the focus returns to the terminal; a keyboard user stays on the buttons. */
export interface Press {
  action: Action;
  byPointer: boolean;
}
export type Action = "smaller" | "larger" | "reader" | "theme" | "link" | "view-link" | "sign-out";
const ACTIONS: readonly Action[] = ["smaller", "larger", "reader", "theme", "link", "view-link", "sign-out"];

export class Header {
  readonly #disposables = new DisposableList();
  readonly #onAction = new Emitter<Press>();
  readonly #more = byId("more");
  readonly #tools = byId("tools");
  readonly #pill = byId("pill");
  readonly #roundTrip = byId("round-trip");
  #title = "hawse";
  #rung = false;

  constructor() {
    for (const action of ACTIONS) {
      this.#disposables.listen<MouseEvent>(byId(action), "click", event =>
        this.#onAction.emit({ action, byPointer: event.detail > 0 }),
      );
    }
    this.#disposables.listen(this.#more, "click", () => this.#setMenuOpen(!this.#menuOpen));
    this.#disposables.listen(document, "pointerdown", event => {
      const inside =
        event.target instanceof Node &&
        (this.#tools.contains(event.target) || this.#more.contains(event.target));
      if (!inside) this.#setMenuOpen(false);
    });
    // An action closes the menu; a change of size or theme keeps it open.
    this.#disposables.listen(this.#tools, "click", event => {
      if (event.target instanceof Element && !event.target.closest(".settings")) this.#setMenuOpen(false);
    });
    for (const element of [this.#more, this.#tools]) {
      this.#disposables.listen<KeyboardEvent>(element, "keydown", event => {
        if (event.key !== "Escape" || !this.#menuOpen) return;
        this.#setMenuOpen(false);
        this.#more.focus();
      });
    }
  }

  readonly onAction = this.#onAction.on;

  showStatus({ kind, label, text }: Status): void {
    setText(within(this.#pill, "[data-text]"), label);
    this.#pill.title = text;
    this.#roundTrip.hidden = kind !== "live" || !this.#roundTrip.textContent;
    byId("people").classList.toggle("stale", kind !== "live");
  }

  showTitle(title: string): void {
    setText(byId("title"), title);
    this.#title = `${title} · hawse`;
    this.#showTab();
  }

  /** `unseen`: the bell has rung while this tab was in the background. */
  ring(unseen: boolean): void {
    this.#rung = unseen;
    this.#showTab();
  }

  showRoundTrip(milliseconds: number): void {
    setText(this.#roundTrip, milliseconds < 1 ? "<1 ms" : `${Math.round(milliseconds)} ms`);
    this.#roundTrip.hidden = document.documentElement.dataset.state !== "live";
  }

  showSettings(theme: ThemeName, screenReader: boolean): void {
    byId("theme").setAttribute("aria-pressed", String(theme === "light"));
    byId("reader").setAttribute("aria-pressed", String(screenReader));
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #showTab(): void {
    document.title = this.#rung ? `● ${this.#title}` : this.#title;
  }

  get #menuOpen(): boolean {
    return this.#more.getAttribute("aria-expanded") === "true";
  }

  #setMenuOpen(open: boolean): void {
    this.#more.setAttribute("aria-expanded", String(open));
    this.#tools.classList.toggle("open", open);
  }
}
