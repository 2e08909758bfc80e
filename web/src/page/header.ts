// The bar at the top: what this is, how it is doing, and the few settings.

import { DisposableList, Emitter } from "../base/disposables";
import { byId, setText, within } from "./dom";
import type { Settings } from "./settings";
import type { Status } from "./status";

/** `byPointer`: then the focus belongs back in the terminal; a keyboard's user is on the way through the buttons. */
export interface Press {
  action: Action;
  byPointer: boolean;
}
export type Action = "smaller" | "larger" | "reader" | "theme" | "link" | "look-link";
const ACTIONS: readonly Action[] = ["smaller", "larger", "reader", "theme", "link", "look-link"];

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
    this.#disposables.listen(this.#more, "click", () => this.#unfold(!this.#unfolded));
    this.#disposables.listen(document, "pointerdown", event => {
      const inside =
        event.target instanceof Node &&
        (this.#tools.contains(event.target) || this.#more.contains(event.target));
      if (!inside) this.#unfold(false);
    });
    // What acts is done with; sizes and themes one tries.
    this.#disposables.listen(this.#tools, "click", event => {
      if (event.target instanceof Element && !event.target.closest(".settings")) this.#unfold(false);
    });
    this.#disposables.listen<KeyboardEvent>(this.#tools, "keydown", event => {
      if (event.key !== "Escape") return;
      this.#unfold(false);
      this.#more.focus();
    });
  }

  readonly onAction = this.#onAction.on;

  showStatus({ mood, label, text }: Status): void {
    setText(within(this.#pill, "[data-text]"), label);
    this.#pill.title = text;
    this.#roundTrip.hidden = mood !== "live" || !this.#roundTrip.textContent;
    byId("people").classList.toggle("stale", mood !== "live");
  }

  showTitle(title: string): void {
    setText(byId("title"), title);
    this.#title = `${title} · hawse`;
    this.#showTab();
  }

  /** The bell has rung while nobody looked at this tab; or now somebody does. */
  ring(unseen: boolean): void {
    this.#rung = unseen;
    this.#showTab();
  }

  showRoundTrip(milliseconds: number): void {
    setText(this.#roundTrip, milliseconds < 1 ? "<1 ms" : `${Math.round(milliseconds)} ms`);
    this.#roundTrip.hidden = document.documentElement.dataset.state !== "live";
  }

  showSettings({ theme, screenReader }: Settings): void {
    byId("theme").setAttribute("aria-pressed", String(theme === "light"));
    byId("reader").setAttribute("aria-pressed", String(screenReader));
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #showTab(): void {
    document.title = this.#rung ? `● ${this.#title}` : this.#title;
  }

  get #unfolded(): boolean {
    return this.#more.getAttribute("aria-expanded") === "true";
  }

  #unfold(open: boolean): void {
    this.#more.setAttribute("aria-expanded", String(open));
    this.#tools.classList.toggle("open", open);
  }
}
