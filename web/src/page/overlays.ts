// What lies over the terminal: the notice while the line is broken, the end of the shell, signing in, and failures.
// None of them moves the layout, and none covers the line that the user is looking at.

import { DisposableList, Emitter } from "../base/disposables";
import { byId, setText, within } from "./dom";
import type { Mood, Status } from "./status";

/** Milliseconds: most broken lines are mended before anybody would have noticed. */
export const NOTICE_AFTER = 400;
const TOAST_FOR = 2_500;
/** Moods in which the notice of a broken line is shown. */
const BROKEN: ReadonlySet<Mood> = new Set(["reconnecting", "offline"]);

export class Overlays {
  readonly #disposables = new DisposableList();
  readonly #onSignIn = new Emitter<string>();
  readonly #onRetry = new Emitter<void>();
  readonly #onRestart = new Emitter<void>();
  readonly #onMood = new Emitter<Mood>();
  readonly #token = byId<HTMLInputElement>("token");
  #mood: Mood | undefined;
  #bannerTimer: ReturnType<typeof setTimeout> | undefined;
  #toastTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.#disposables.listen(byId("retry"), "click", () => this.#onRetry.emit());
    this.#disposables.listen(byId("again"), "click", () => this.#onRetry.emit());
    this.#disposables.listen(byId("restart"), "click", () => this.#onRestart.emit());
    this.#disposables.listen(byId("sign-in"), "submit", event => {
      event.preventDefault();
      const token = this.#token.value.trim();
      if (token) this.#onSignIn.emit(token);
      this.#token.value = "";
    });
    this.#disposables.defer(() => clearTimeout(this.#bannerTimer));
    this.#disposables.defer(() => clearTimeout(this.#toastTimer));
  }

  readonly onSignIn = this.#onSignIn.on;
  readonly onRetry = this.#onRetry.on;
  readonly onRestart = this.#onRestart.on;
  /** Another mood than before: time to think of the focus. */
  readonly onMood = this.#onMood.on;

  show(status: Status): void {
    const { mood, text, error } = status;
    setText(within(byId("banner"), "[data-text]"), text);
    setText(within(byId("ended"), "[data-text]"), capitalize(text));
    setText(byId("sign-in-error"), mood === "signed-out" ? text : "");
    setText(byId("failure-text"), text);
    setText(
      byId("failure-code"),
      error && error.message !== text ? `${error.code}: ${error.message}` : (error?.code ?? ""),
    );
    if (mood !== this.#mood) this.#enter(mood, status);
  }

  /** Notices go to the half of the screen where the cursor is not. */
  avoid(cursorInUpperHalf: boolean): void {
    byId("stage").classList.toggle("notices-below", cursorInUpperHalf);
  }

  toast(text: string): void {
    const toast = byId("toast");
    setText(toast, text);
    toast.hidden = false;
    clearTimeout(this.#toastTimer);
    this.#toastTimer = setTimeout(() => {
      toast.hidden = true;
    }, TOAST_FOR);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #enter(mood: Mood, status: Status): void {
    const wasBroken = this.#mood !== undefined && BROKEN.has(this.#mood);
    this.#mood = mood;
    document.documentElement.dataset.state = mood;
    byId("ended").hidden = mood !== "ended";
    byId("sign-in").hidden = mood !== "signed-out";
    byId("failure").hidden = mood !== "failed";
    this.#showBanner(BROKEN.has(mood), wasBroken);
    // A short break is nobody's news; being back from a long one is.
    if (!BROKEN.has(mood)) setText(byId("announcer"), mood === "signed-out" ? "Signed out" : status.text);
    byId("terminal").inert = mood === "signed-out" || mood === "failed";
    if (mood === "signed-out") this.#token.focus();
    if (mood === "failed") byId("again").focus();
    this.#onMood.emit(mood);
  }

  #showBanner(broken: boolean, wasBroken: boolean): void {
    const banner = byId("banner");
    if (!broken) {
      clearTimeout(this.#bannerTimer);
      banner.hidden = true;
    } else if (!wasBroken) {
      this.#bannerTimer = setTimeout(() => {
        banner.hidden = false;
        setText(byId("announcer"), "The connection is broken. Reconnecting.");
      }, NOTICE_AFTER);
    }
  }
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
